/// A state that the broker retains.
package protocol RetainedValue: Hashable, Sendable {
    /// Approximate size in memory, bytes.
    var byteCount: Int { get }
}
