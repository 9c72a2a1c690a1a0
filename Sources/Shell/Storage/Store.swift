import Base
import System

/// The store for the service: a thread that owns the database, because the fsync of a memory card may take seconds and
/// the radio must not wait for it.
///
/// `submit` passes requests and never blocks. `drain` returns events after `wake` was called. The store's thread
/// decides nothing.
package final class Store: Sendable {
    private let channel: StoreChannel
    private let thread: WorkerThread

    /// Starts the thread. The first event is `opened`, or `unavailable` as long as the state cannot be used.
    ///
    /// - Parameter wake: Called on the store's thread when there are events.
    /// - Throws: `StoreError.system` if no thread or descriptor is left.
    package init(_ settings: StoreSettings, wake: @escaping @Sendable () -> Void) throws(StoreError) {
        do throws(SystemError) {
            let channel = try StoreChannel(settings, wake: wake)
            thread = try WorkerThread(name: "store") { channel.run() }
            self.channel = channel
        } catch {
            throw .system(operation: "start a thread for", path: settings.path, errno: error.code)
        }
    }

    deinit {
        // Without a previous `stop`, the thread writes all waiting data and ends by itself.
        channel.submit(.stop)
    }

    package func submit(_ request: StoreRequest) { channel.submit(request) }

    /// Removes and returns the events since the last call, in order.
    package func drain() -> [StoreEvent] { channel.drain() }

    package var counters: StoreCounters { channel.currentCounters }

    /// Writes all waiting data, and ends the thread.
    ///
    /// - Parameter limit: How long to wait for a slow disk.
    /// - Returns: false if the thread has not ended by then. It ends later by itself.
    package func stop(within limit: Duration) -> Bool {
        channel.submit(.stop)
        return thread.join(until: Clocks.now().advanced(by: limit))
    }
}
