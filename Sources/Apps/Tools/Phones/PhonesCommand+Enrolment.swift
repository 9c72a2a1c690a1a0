import Base
import GatewayApp
import Identities
import Shell
import System

extension PhonesCommand {
    /// Enrols a phone at this machine.
    ///
    /// - Parameter keys: Read again afterwards, because the enrolment takes minutes.
    static func enrol(
        _ name: String, _ arguments: Arguments, _ keys: inout PhoneKeys, _ settings: Settings
    ) throws -> IdentityKey {
        // A name that cannot be kept is refused before anybody takes a phone in hand.
        var trial = keys
        do throws(PhoneKeysError) {
            try trial.set(IdentityKey(high: .random(in: 1 ... .max), low: .random(in: 1 ... .max)), of: name)
        } catch {
            throw Failure(.badData, "'\(name)' cannot be added: \(error)")
        }
        let key = try PhoneEnrolment.key(of: name, arguments, settings)
        keys = try PhoneKeyFile.read(in: settings.stateDirectory)
        if let former = keys.phones.first(where: { $0.name.hasSameBytes(as: name) }), !arguments.has("quiet") {
            Terminal.printError(
                former.key.canonical == key.canonical
                    ? "'\(name)' was enrolled with this key before; its region stays as it is"
                    : "'\(name)' had another key: a reset phone has a new one. Give its region the new UUID")
        }
        return key
    }
}
