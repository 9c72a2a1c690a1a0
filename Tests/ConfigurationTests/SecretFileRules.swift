import Base
import JSON
import Testing

@testable import Configuration

/// A setting that names a file has what is in the file, whatever settings come from afar.
@Suite struct SecretFileRules {
    private static let file = """
        {username: 'jane', deviceId: 'hall', encryptionKeyFile: 'key', passwordFile: 'pw', tls: true, caFile: 'ca',
         remoteConfiguration: true, rooms: {encryptionKeyFile: 'site'},
         trackers: [{deviceId: 'a'}, {deviceId: 'b'}]}
        """

    private func apply(_ changes: String, to file: String = file, files: ConfigurationFiles = .named) throws
        -> Configuration
    {
        try RemoteSettings(
            applying: JSONValue(parsing: "{_type: 'configuration', \(changes)}", dialect: .json5),
            to: JSONValue(parsing: file, dialect: .json5), hostName: "pi", files: files
        ).configuration
    }

    private static let inherited = SecretSetting.file(path: "key", secret: Secret("in key"))

    @Test(
        "Each tracker that comes from afar has the key of the file that it inherits",
        arguments: [
            ("tag: 'x'", ["hall", "a", "b"]), ("trackers: [{deviceId: 'b'}, {deviceId: 'a'}]", ["hall", "b", "a"]),
            ("trackers: [{deviceId: 'a'}, {deviceId: 'b'}, {tid: 'e', deviceId: 'e'}]", ["hall", "a", "b", "e"]),
            ("trackers: [{deviceId: 'b'}, {deviceId: 'c'}]", ["hall", "b", "c"]),
            ("trackers: []", ["hall"]), ("trackers: null", ["hall"]),
        ])
    func inheritance(changes: String, devices: [String]) throws {
        let configuration = try apply(changes)
        #expect(configuration.trackers.map(\.deviceID) == devices)
        #expect(configuration.trackers.allSatisfy { $0.encryptionKey == Self.inherited })
        #expect(configuration.broker.password.secret == Secret("in pw"))
        #expect(configuration.rooms?.encryptionKey == .file(path: "site", secret: Secret("in site")))
    }

    @Test("A tracker with a file of its own keeps that file, at whatever place it is")
    func own() throws {
        let file = """
            {deviceId: 'hall', trackers: [{deviceId: 'a'}, {deviceId: 'b', encryptionKeyFile: 'own'}]}
            """
        let keys = try apply("tag: 'x', deviceId: 'attic'", to: file).trackers.map(\.encryptionKey)
        #expect(keys == [.absent, .absent, .file(path: "own", secret: Secret("in own"))])
        #expect(throws: ConfigurationError.self) { try apply("trackers: [{deviceId: 'b'}]", to: file) }
    }

    @Test(
        "Where a file cannot be read, the settings are refused, and the setting that names it is named once",
        arguments: [("key", "encryptionKeyFile"), ("pw", "passwordFile"), ("site", "rooms.encryptionKeyFile")])
    func unreadable(path: String, member: String) {
        let files = ConfigurationFiles { file throws(ConfigurationFiles.Problem) in
            if file == path { throw ConfigurationFiles.Problem("cannot read \(file)") }
            return Secret("in \(file)")
        }
        let error = #expect(throws: ConfigurationError.self) {
            try apply("trackers: [{deviceId: 'e'}, {deviceId: 'f'}]", files: files)
        }
        #expect(error?.problems.map(\.description) == ["\(member): cannot read \(path)"])
    }

    @Test("A key in a file is at most as long as one in the configuration")
    func length() {
        let files = ConfigurationFiles { _ in Secret(String(repeating: "k", count: 33)) }
        for member in ["encryptionKeyFile: 'f'", "rooms: {encryptionKeyFile: 'f'}"] {
            let error = #expect(throws: ConfigurationError.self) {
                try Configuration(parsing: "{\(member)}".utf8, hostName: "pi", files: files)
            }
            #expect(error?.description.contains("33 bytes; at most 32 are allowed") == true)
        }
    }

    @Test("A password that is switched off is not read, and where no file is read, one that is named is refused")
    func unread() throws {
        let off = "{username: 'u', passwordFile: 'p', usePassword: false}"
        #expect(try Configuration(parsing: off.utf8, hostName: "pi").broker.password == .absent)
        let error = #expect(throws: ConfigurationError.self) {
            try Configuration(parsing: "{encryptionKeyFile: 'k'}".utf8, hostName: "pi")
        }
        #expect(error?.description == "encryptionKeyFile: k is not read here")
    }

    @Test("The files that the libraries open count from the configuration file, also in settings from afar")
    func resolved() throws {
        let files = ConfigurationFiles(resolved: { "/etc/\($0)" }) { Secret("in \($0)") }
        let file = "{tls: true, caFile: 'ca', clientCertificateFile: 'c', clientKeyFile: 'k'}"
        let broker = try apply("tag: 'x'", to: file, files: files).broker
        #expect(broker.caFile == "/etc/ca")
        #expect([broker.clientCertificateFile, broker.clientKeyFile] == ["/etc/c", "/etc/k"])
    }
}
