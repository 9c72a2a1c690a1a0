package import Identities
import Shell
package import System

/// The file of the keys of phones: `phone-keys` in the state directory, and the credential that systemd provides.
package enum PhoneKeyFile {
    private static let name = "phone-keys"
    private static let credential = "ibeacon-gateway.phoneKeys"

    /// The keys of both files; those of the state directory first.
    ///
    /// - Throws: if a file cannot be read or used, or if others can read that in the state directory.
    package static func all(
        in directory: String, credentials: String? = Settings.environment("CREDENTIALS_DIRECTORY")
    ) throws(Failure) -> [PhoneKeys.Phone] {
        var phones = try read(in: directory).phones
        if let path = credentials.map({ "\($0)/\(credential)" }), FileAccess.exists(path) {
            let known = Set(phones.map(\.key.canonical))
            phones += try parse(FileAccess.read(path), path).phones.filter { !known.contains($0.key.canonical) }
        }
        return phones
    }

    /// The keys in the state directory.
    package static func read(in directory: String) throws(Failure) -> PhoneKeys {
        guard let bytes = try PrivateFile.read(name, in: directory) else { return PhoneKeys() }
        return try parse(bytes, "\(directory)/\(name)")
    }

    package static func write(_ keys: PhoneKeys, in directory: String) throws(Failure) {
        try PrivateFile.write(keys.bytes, to: name, in: directory)
    }

    private static func parse(_ bytes: [UInt8], _ path: String) throws(Failure) -> PhoneKeys {
        do throws(PhoneKeysError) {
            return try PhoneKeys(parsing: bytes)
        } catch {
            throw Failure(.configuration, "\(path) cannot be used: \(error)")
        }
    }
}
