import Base
import GatewayApp
import Identities
import JSON
import Shell
import System

/// `phones`: the keys of phones and watches, by which the gateway recognises them under every address.
enum PhonesCommand {
    static let specification = CommandSpecification(
        "phones", operands: "list | add NAME | remove NAME", "list, add and remove the keys of phones and watches",
        options: [
            OptionSpecification(
                "key", "FILE",
                "with add: a file whose first line is the key, in hexadecimal or base64; '-' is standard input"),
            OptionSpecification(
                "keyboard", nil, "with add and without a key: appear as a keyboard, which Samsung phones list"),
        ],
        examples: [
            ("ibeacon-gateway phones add Jane", "pair with the phone, take its key, and remove the pairing"),
            ("ibeacon-gateway phones add Jane --key jane.key", "store a key, and print the description of a region"),
            ("ibeacon-gateway phones list", "the names, and the UUIDs by which regions mean them"),
        ])

    static func run(_ arguments: Arguments) throws -> ExitCode {
        let settings = try Settings.load(arguments)
        let directory = settings.stateDirectory
        var keys = try PhoneKeyFile.read(in: directory)
        let words = arguments.operands
        switch (words.first, words.count) {
        case ("list", 1): list(try PhoneKeyFile.all(in: directory), isJSON: arguments.has("json"))
        case ("add", 2): try add(words[1], arguments, to: &keys, settings)
        case ("remove", 2):
            guard keys.remove(words[1]) else {
                let hint = suggestion(for: words[1], among: keys.phones.map(\.name)).map { "; did you mean '\($0)'?" }
                throw Failure(.badData, "there is no phone '\(words[1])'\(hint ?? "")")
            }
            try write(keys, directory, arguments)
        default: throw Failure(.usage, "say what to do: phones list, phones add NAME, phones remove NAME")
        }
        return .ok
    }

    private static func list(_ phones: [PhoneKeys.Phone], isJSON: Bool) {
        guard !isJSON else {
            let rows = phones.map { JSONValue.object(["name": .string($0.name), "uuid": .string("\($0.key.uuid)")]) }
            return Terminal.print(json: JSONValue.array(rows).text)
        }
        guard !phones.isEmpty else {
            return Terminal.print("none yet; add one with: ibeacon-gateway phones add NAME")
        }
        Terminal.print(Terminal.table(["NAME", "UUID"], phones.map { [$0.name, "\($0.key.uuid)"] }))
    }

    private static func add(
        _ name: String, _ arguments: Arguments, to keys: inout PhoneKeys, _ settings: Settings
    ) throws {
        guard arguments.value("key") == nil || !arguments.has("keyboard") else {
            throw Failure(.usage, "with --key nothing pairs, so --keyboard has no meaning; give one of them")
        }
        let key =
            if let file = arguments.value("key") {
                try key(in: file)
            } else {
                try enrol(name, arguments, &keys, settings)
            }
        do throws(PhoneKeysError) {
            try keys.set(key, of: name)
        } catch {
            throw Failure(.badData, "'\(name)' cannot be added: \(error)")
        }
        try FileAccess.createDirectory(settings.stateDirectory)
        try write(keys, settings.stateDirectory, arguments)
        if !arguments.has("quiet") {
            Terminal.printError("and for enter and leave: sudo ibeacon-gateway regions add '\(name):\(key.uuid)'")
        }
        Terminal.print("\(name):\(key.uuid)")
    }

    private static func key(in file: String) throws(Failure) -> IdentityKey {
        let line = try FileAccess.readNamed(file).prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard let key = IdentityKey(String(decoding: line, as: UTF8.self)) else {
            throw Failure(.badData, "\(file): \(PhoneKeysError.invalidKey)")
        }
        return key
    }

    private static func write(_ keys: PhoneKeys, _ directory: String, _ arguments: Arguments) throws(Failure) {
        try PhoneKeyFile.write(keys, in: directory)
        guard !arguments.has("quiet") else { return }
        Terminal.printError("a running service reads the keys again at: sudo systemctl reload ibeacon-gateway")
    }
}
