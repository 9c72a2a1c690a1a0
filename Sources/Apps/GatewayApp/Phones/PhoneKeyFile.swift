import Gateway
package import Identities
import Shell
package import System

/// The file of the keys of phones: `phone-keys` in the state directory, and the credential that systemd provides.
package enum PhoneKeyFile {
    private static let name = "phone-keys"
    private static let lockName = "phone-keys.lock"
    private static let credential = "ibeacon-gateway.phoneKeys"

    /// The keys of both files; those of the state directory first.
    ///
    /// - Throws: if a file cannot be read or used, or if others can read that in the state directory.
    package static func all(
        in directory: String, credentials: String? = Settings.environment("CREDENTIALS_DIRECTORY")
    ) throws(Failure) -> [PhoneKeys.Phone] {
        let phones = try read(in: directory).phones
        return phones + (try provided(credentials)).filter { !phones.has($0.key) }
    }

    /// The keys of the credential, which nobody changes while the service runs.
    package static func provided(
        _ credentials: String? = Settings.environment("CREDENTIALS_DIRECTORY")
    ) throws(Failure) -> [PhoneKeys.Phone] {
        guard let path = credentials.map({ "\($0)/\(credential)" }), !FileAccess.isMissing(path) else { return [] }
        return try parse(FileAccess.read(path), path).phones
    }

    /// The keys in the state directory.
    package static func read(in directory: String) throws(Failure) -> PhoneKeys {
        guard let bytes = try PrivateFile.read(name, in: directory) else { return PhoneKeys() }
        return try parse(bytes, "\(directory)/\(name)")
    }

    /// Changes the keys in the state directory, while no other program changes them.
    ///
    /// - Parameter waits: Whether to wait for another program, which takes milliseconds.
    /// - Returns: The keys afterwards; nil if another program changes them now.
    package static func update(
        in directory: String, waits: Bool = true, _ change: (inout PhoneKeys) throws(Failure) -> Void
    ) throws(Failure) -> PhoneKeys? {
        guard let lock = try PrivateLock(lockName, in: directory, waits: waits) else { return nil }
        let before = try read(in: directory)
        var keys = before
        try change(&keys)
        if keys != before { try PrivateFile.write(keys.bytes, to: name, in: directory) }
        _ = consume lock
        return keys
    }

    /// Tells one state of the file from another.
    package static func stamp(in directory: String) -> FileStamp? { FileStamp(of: "\(directory)/\(name)") }

    private static func parse(_ bytes: [UInt8], _ path: String) throws(Failure) -> PhoneKeys {
        do throws(PhoneKeysError) {
            return try PhoneKeys(parsing: bytes)
        } catch {
            throw Failure(.configuration, "\(path) cannot be used: \(error)")
        }
    }
}
