import Base
package import Runtime
package import Storage
package import System

extension StoreEvent {
    /// Logs the store's reports of its health.
    ///
    /// - Returns: the exit status of a service that cannot continue, because waiting does not remove the fault; else
    ///   nil.
    package func write(to log: Log) -> ExitCode? {
        switch self {
        case .notice(let notice): log.write(notice.priority, notice.text)
        case .unavailable(let failure):
            guard let code = failure.exitCode else {
                log.error("the state cannot be used: \(failure.error); it is tried again")
                return nil
            }
            log.error("cannot start: \(failure.error)")
            return code
        case .troubled(let failure): log.error("the state cannot be written: \(failure.error); it is tried again")
        case .recovered(let after): log.notice("the state can be written again, after \(decimal(after)) s")
        case .failed(let error, let willRetry):
            log.once("store", .error, "a write failed: \(error)\(willRetry ? "; it is tried again" : "")")
        case .stopped(let unsaved):
            if unsaved > 0 { log.error("the state could not be written; the last \(unsaved) changes are lost") }
        case .opened, .kept, .deliver, .regionEdits, .stateLost: break
        }
        return nil
    }
}

extension StoreEvent {
    /// Whether the store has ended without having written all decisions.
    var isLoss: Bool { if case .stopped(let unsaved) = self { unsaved > 0 } else { false } }
}

extension StoreFailure {
    /// nil if the fault may be temporary.
    fileprivate var exitCode: ExitCode? {
        switch error {
        case .inUse: .unavailable
        case .newerSchema: .configuration
        case .database, .system, .absent, .untrusted: nil
        }
    }
}
