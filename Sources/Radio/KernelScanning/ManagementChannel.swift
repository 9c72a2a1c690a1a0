package import Base
package import System

/// The management interface as an enrolment uses it. In the program it is the kernel's socket; in unit tests, a script.
package protocol ManagementChannel: AnyObject {
    /// Gets each message of the kernel, valid only during the call, and when it came.
    var onMessage: ((Span<UInt8>, MonotonicInstant) -> Void)? { get set }
    /// Gets the reason when the channel has failed and is closed.
    var onFailure: ((String) -> Void)? { get set }
    /// Begins to read.
    func open()
    func close()
    func send(_ command: ManagementCommand) throws(SystemError)
}
