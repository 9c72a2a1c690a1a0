import Base
import System

/// The store as the daemon sees it: a thread of its own that owns the database, because the fsync of
/// a memory card may take seconds and the radio must not wait for it.
///
/// Requests go in by `submit`, which never blocks; events are fetched by `drain` after `wake` was called.
/// Nothing is decided on the store's thread.
package final class Store: Sendable {
    private let channel: StoreChannel
    private let thread: WorkerThread

    /// Starts the thread. The first event is `opened`, or `unavailable` as long as there is trouble.
    ///
    /// - Parameter wake: Called on the store's thread when there is something to drain.
    /// - Throws: `StoreError.system` if the machine gives no thread or descriptor.
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
        // Without `stop` before it, the thread writes what waits and ends by itself.
        channel.submit(.stop)
    }

    package func submit(_ request: StoreRequest) { channel.submit(request) }

    /// The events since the last call, in order.
    package func drain() -> [StoreEvent] { channel.drain() }

    package var counters: StoreCounters { channel.currentCounters }

    /// Writes what waits, and ends the thread.
    ///
    /// - Parameter limit: How long to wait for a slow disk.
    /// - Returns: false if it was not done by then. The thread goes on and ends when it can.
    package func stop(within limit: Duration) -> Bool {
        channel.submit(.stop)
        return thread.join(until: Clocks.now().advanced(by: limit))
    }
}
