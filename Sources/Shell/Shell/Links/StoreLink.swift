package import Storage

/// A service's link to its store. Requests never block; events are fetched after `onEvents` was called.
package protocol StoreLink: AnyObject {
    /// The counters of the store; nil before it was opened.
    var counters: StoreCounters? { get }

    /// Opens the store. The first event is `opened`, or `unavailable` as long as the state cannot be used.
    ///
    /// - Throws: if no thread or descriptor is left.
    func open(_ settings: StoreSettings, onEvents: @escaping () -> Void) throws
    func submit(_ request: StoreRequest)
    /// Removes and returns the events since the last call, in order.
    func drainEvents() -> [StoreEvent]
    /// Writes all waiting data, and ends.
    ///
    /// - Returns: false if the disk took longer than `limit`.
    func close(within limit: Duration) -> Bool
}
