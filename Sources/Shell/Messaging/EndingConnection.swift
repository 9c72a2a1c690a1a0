/// A connection that is ending by itself.
package struct EndingConnection: Sendable {
    /// Waits until it has ended, or its time is over.
    package let wait: @Sendable () -> Void

    package init(wait: @escaping @Sendable () -> Void) { self.wait = wait }
}
