package import Storage

/// A service's link to its store. Requests never block; events are fetched after `onEvents` was called.
package protocol StoreLink: AnyObject {
    /// What the store did so far; nil before it was opened.
    var counters: StoreCounters? { get }

    /// Opens the store. The first event is `opened`, or `unavailable` as long as the state cannot be used.
    ///
    /// - Throws: if the machine gives no thread or descriptor.
    func open(_ settings: StoreSettings, onEvents: @escaping () -> Void) throws
    func submit(_ request: StoreRequest)
    /// The events since the last call, in order.
    func takeEvents() -> [StoreEvent]
    /// Writes what waits, and ends.
    ///
    /// - Returns: false if the disk took longer than `limit`.
    func close(within limit: Duration) -> Bool
}
