import Base
import Configuration
import Glibc
import JSON
import Shell
import System

/// The Bluetooth proxy that setup makes, if it is wanted.
struct SetupProxy {
    let isWanted: Bool
    let keyPath: String

    /// Asks whether Home Assistant is to hear through this machine.
    ///
    /// - Parameter asks: Whether there is a Home Assistant that could.
    init(_ arguments: Arguments, _ dialogue: Dialogue, asks: Bool, beside path: String) throws(Failure) {
        keyPath = SetupFiles.directory(of: path) + "/proxy-key"
        guard !arguments.has("bluetooth-proxy"), dialogue.isInteractive, asks else {
            isWanted = arguments.has("bluetooth-proxy")
            return
        }
        isWanted = try dialogue.confirm(
            "Does Home Assistant run on another machine, and should it hear thermometers and scales through this one?",
            false)
    }

    /// The members of the configuration.
    var members: [(name: String, value: JSONValue)] {
        isWanted ? [("bluetoothProxy", ["keyFile": .string(keyPath)])] : []
    }

    /// What stands for the key before it is made.
    static let placeholder = Secret(Base64.text([UInt8](repeating: 1, count: BluetoothProxySettings.keyBytes)))

    /// Makes the key, unless there is one: Home Assistant knows that one.
    ///
    /// - Parameter owner: Who may read it, if root writes it; nil: root alone.
    func writeKey(_ dialogue: Dialogue, owner: uid_t?) throws(Failure) {
        guard isWanted, !FileAccess.exists(keyPath) else { return }
        var generator = SystemRandomNumberGenerator()
        let key = (0..<BluetoothProxySettings.keyBytes).map { _ in UInt8.random(in: 0...255, using: &generator) }
        var attributes = AtomicFile.Attributes(mode: 0o600)
        if geteuid() == 0 { attributes.owner = owner }
        let bytes = Array("\(Base64.text(key))\n".utf8)
        try mapError({ Failure($0) }) { () throws(FileError) in
            try AtomicFile.replace(keyPath, by: bytes, attributes)
        }
        dialogue.show("Wrote the key of the Bluetooth proxy.")
    }
}
