import Base
import System

extension Arguments {
    /// The option's argument as seconds, 0 or more; fractions are allowed.
    func seconds(_ option: String) throws(Failure) -> Duration? {
        guard let text = value(option) else { return nil }
        guard let seconds = Double(text), seconds.isFinite, (0...1e9).contains(seconds) else {
            throw Failure(.usage, "--\(option) '\(text)' is not a number of seconds; write 0 or more, such as 120")
        }
        return .nanoseconds(Int64(saturating: seconds * 1e9))
    }

    /// The option's argument as a number above 0.
    func positiveNumber(_ option: String) throws(Failure) -> Double? {
        guard let text = value(option) else { return nil }
        guard let number = Double(text), number.isFinite, number > 0 else {
            throw Failure(.usage, "--\(option) '\(text)' is not a number above 0")
        }
        return number
    }
}
