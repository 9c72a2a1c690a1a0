import Beacon
import Glibc
import Synchronization

/// The store as the daemon sees it: a thread of its own that owns the database, because the fsync of
/// a memory card may take seconds and the radio must not wait for it.
///
/// Requests go in by `submit`, which never blocks; events are fetched by `drain` after `wake` was called.
/// Nothing is decided on the store's thread.
package final class Store: Sendable {
    private let channel: StoreChannel
    private let thread: pthread_t

    /// Starts the thread. The first event is `opened`, or `unavailable` as long as there is trouble.
    ///
    /// - Parameter wake: Called on the store's thread when there is something to drain.
    /// - Throws: `StoreError.system` if the machine gives no thread or descriptor.
    package init(_ settings: StoreSettings, wake: @escaping @Sendable () -> Void) throws(StoreError) {
        channel = try StoreChannel(settings, wake: wake)
        var thread = pthread_t()
        // The thread inherits the mask: signals are the loop's business.
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        let context = Unmanaged.passRetained(channel)
        let code = pthread_create(&thread, nil, runStoreThread, context.toOpaque())
        pthread_sigmask(SIG_SETMASK, &before, nil)
        guard code == 0 else {
            context.release()
            throw .system(operation: "start a thread for", path: settings.path, errno: code)
        }
        self.thread = thread
    }

    deinit {
        // Without `stop` before it, the thread writes what waits and ends by itself.
        channel.submit(.stop)
        if !channel.isJoined { pthread_detach(thread) }
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
        guard channel.waitForEnd(within: limit) else { return false }
        guard channel.markJoined() else { return true }
        pthread_join(thread, nil)
        return true
    }
}

/// A function of the file, not a closure: it is called on another thread, where a closure's inherited
/// isolation would trap.
private func runStoreThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    Unmanaged<StoreChannel>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
