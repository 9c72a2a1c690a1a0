package import Gateway
import Identities
import System

extension PhoneKeyChange {
    /// Changes the file. It may wait for the disk.
    package func store(in directory: String) -> PhoneKeyOutcome {
        do throws(Failure) {
            var (wasChanged, problems) = (false, [String]())
            let stored = try PhoneKeyFile.update(in: directory, waits: false) { keys in
                (wasChanged, problems) = apply(to: &keys)
            }
            guard let stored else { return .busy }
            return .stored(
                stored, stamp: PhoneKeyFile.stamp(in: directory), wasChanged: wasChanged, problems: problems)
        } catch {
            return .failed(error)
        }
    }
}
