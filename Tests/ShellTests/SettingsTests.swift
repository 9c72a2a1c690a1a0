import Base
import Configuration
import Glibc
import Messaging
import System
import TestSupport
import Testing

@testable import Shell

/// What is read at the start, and where from.
struct SettingsTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    // MARK: The file

    @Test func `Without a file the defaults apply, but a file that cannot be seen is an error`() throws {
        let missing = try Settings(lookingAt: directory.file("config.json"), stateDirectory: directory.path)
        #expect(missing.path == nil && missing.configuration == .defaults(hostName: Settings.hostName))
        // In the way that root cannot pass either: the link leads to itself.
        symlink("config.json", directory.file("config.json"))
        #expect(throws: Failure.self) {
            try Settings(lookingAt: directory.file("config.json"), stateDirectory: directory.path)
        }
    }

    // MARK: Secrets

    @Test func `Without a file the secrets of systemd apply`() throws {
        try directory.write("the tracker's\n", to: "ibeacon-gateway.encryptionKey")
        try directory.write("the site's\n", to: "ibeacon-gateway.rooms.encryptionKey")
        // No user name belongs to it, so it does not count.
        try directory.write("a password\n", to: "ibeacon-gateway.password")
        let settings = try Settings(
            withoutFileAt: directory.file("config.json"), stateDirectory: directory.path, credentials: directory.path)
        #expect(settings.path == nil)
        #expect(settings.configuration.trackers.first?.encryptionKey.inFile?.revealed == "the tracker's")
        #expect(settings.configuration.rooms?.encryptionKey.inFile?.revealed == "the site's")
    }

    @Test(arguments: [
        "password: \"hush\"", "passwordFile: \"config.json\"",
        "tls: true, clientCertificateFile: \"client.pem\", clientKeyFile: \"config.json\"",
    ])
    func `The advice for a secret that all users can read leaves it to the service`(member: String) throws {
        let path = try directory.write("{_type: \"configuration\", username: \"jane\", \(member)}", to: "config.json")
        chmod(path, 0o644)
        let failure = #expect(throws: Failure.self) {
            try Settings(readingFrom: path, stateDirectory: directory.path)
        }
        #expect(
            failure?.message.hasSuffix("run: \(SecretFile.hiding(path))") == true, "\(failure?.message ?? "")")
        let group = String(cString: try #require(getgrgid(getegid())).pointee.gr_name)
        #expect(
            SecretFile.hiding(path, from: group) == "sudo chown root:\(group) \(path) && sudo chmod 640 \(path)")
    }

    @Test(arguments: [
        ("\u{FEFF}hush\r\n", "hush", false), ("hush \n", "hush ", true), ("hush\n", "hush", false),
        ("\u{FEFF}\u{FEFF}\n", "\u{FEFF}", false),
    ])
    func `A byte order mark is no part of a password, and a blank is, with a remark`(
        content: String, password: String, isRemarked: Bool
    ) throws {
        let directory = try TemporaryDirectory()
        try directory.write(content, to: "password")
        let file = try directory.write(
            #"{_type: "configuration", username: "jane", passwordFile: "password"}"#, to: "config.json")
        let settings = try Settings(readingFrom: file, stateDirectory: directory.path)
        #expect(settings.configuration.broker.password.secret?.revealed == password)
        #expect(settings.configuration.warnings.map(\.member) == (isRemarked ? ["passwordFile"] : []))
        #expect(settings.configuration.broker.passwordRemark.isEmpty != isRemarked)
    }

    @Test func `The advice names no group that is not there`() throws {
        let path = try directory.write("hush", to: "password")
        #expect(SecretFile.hiding(path, from: "no-such-group") == "chmod 600 \(path)")
    }

    // MARK: Certificates

    @Test func `Relative paths of certificates count from the configuration file`() throws {
        let path = try directory.write(
            """
            {_type: "configuration", tls: true, caFile: "ca.pem", clientCertificateFile: "own/c.pem",
             clientKeyFile: "/k.pem"}
            """, to: "config.json")
        let configuration = try Settings(readingFrom: path, stateDirectory: directory.path).configuration
        let tls = try #require(BrokerSettings(configuration, for: .command("test")).tls)
        #expect(tls.caFile == directory.file("ca.pem"))
        #expect(tls.clientCertificateFile == directory.file("own/c.pem"))
        #expect(tls.clientKeyFile == "/k.pem")
    }
}
