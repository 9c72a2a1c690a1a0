import Configuration
import System

extension BrokerHost {
    /// Reads a broker as a person writes it.
    ///
    /// - Throws: Why it cannot be used. The text itself may contain a password, and is not repeated.
    init(given text: String) throws(Failure) {
        do throws(Problem) { self = try BrokerHost(text) } catch {
            throw Failure(.usage, "this broker cannot be used: \(error.reason)")
        }
    }

    /// - Parameter option: An option by which the connection is encrypted; nil: none is given.
    /// - Throws: If the scheme of the address says that it is not.
    func check(beside option: String?) throws(Failure) {
        guard let option, tls == false else { return }
        throw Failure(.usage, "the address of the broker says without TLS, and --\(option) with it; write mqtts://")
    }
}
