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

    // MARK: Secrets

    @Test(arguments: ["password: \"hush\"", "passwordFile: \"config.json\""])
    func `The advice for a secret that all users can read leaves it to the service`(member: String) throws {
        let path = try directory.write("{_type: \"configuration\", username: \"jane\", \(member)}", to: "config.json")
        chmod(path, 0o644)
        let failure = #expect(throws: Failure.self) {
            try Settings(readingFrom: path, stateDirectory: directory.path)
        }
        let advice = "run: sudo chown root:ibeacon-gateway \(path) && sudo chmod 640 \(path)"
        #expect(failure?.message.hasSuffix(advice) == true, "\(failure?.message ?? "")")
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
