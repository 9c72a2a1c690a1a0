import Base
import GatewayApp
import Identities
import Shell
import System

extension PhonesCommand {
    /// Enrols a phone at this machine.
    static func enrol(_ name: String, _ arguments: Arguments, _ settings: Settings) throws -> PhoneKey {
        let phone = PhoneKey(try PhoneEnrolment.key(of: name, arguments, settings), isOrdered: true)
        // Read only now, because the enrolment takes minutes.
        let known = try PhoneKeyFile.read(in: settings.stateDirectory).phones
        if let former = known.first(where: { $0.name.hasSameBytes(as: name) }), !arguments.has("quiet") {
            Terminal.printError(
                former.key.key.unordered == phone.key.unordered
                    ? "'\(name)' was enrolled with this key before; its region stays as it is"
                    : "'\(name)' had another key: a reset phone has a new one. Give its region the new UUID")
        }
        return phone
    }
}

extension IdentityKey {
    /// A key of no device, to try whether a name can be kept.
    static var random: IdentityKey { IdentityKey(high: .random(in: 1 ... .max), low: .random(in: 1 ... .max)) }
}
