package import Runtime
package import Storage
import System

/// The store link over the store's own thread, which wakes the event loop.
package final class ThreadedStoreLink: StoreLink {
    private let loop: EventLoop
    private let log: Log
    private var store: Store?
    private var waker: WakerWatch?
    /// Detects that the command line has written to the state directory.
    private var editWatch: DirectoryWatch?

    package init(loop: EventLoop, log: Log) {
        self.loop = loop
        self.log = log
    }

    package var counters: StoreCounters? { store?.counters }

    package func open(_ settings: StoreSettings, onEvents: @escaping () -> Void) throws {
        let waker = try loop.waker(onEvents)
        self.waker = waker
        var settings = settings
        if watchEdits(in: settings.directory) { settings.editInterval = StoreSettings.watchedEditInterval }
        store = try Store(settings, wake: waker.waker.wake)
    }

    package func submit(_ request: StoreRequest) { store?.submit(request) }
    package func drainEvents() -> [StoreEvent] { store?.drain() ?? [] }
    package func close(within limit: Duration) -> Bool { store?.stop(within: limit) ?? true }

    /// Makes the store read edits as soon as the command line has written.
    ///
    /// - Returns: false if no inotify watch is left; the store then checks by itself.
    private func watchEdits(in directory: String) -> Bool {
        do throws(SystemError) {
            editWatch = try DirectoryWatch(loop: loop, path: directory) { [unowned self] in submit(.checkEdits) }
            return true
        } catch {
            log.info("the state directory cannot be watched (\(error)); the store checks it every 2 s")
            return false
        }
    }
}
