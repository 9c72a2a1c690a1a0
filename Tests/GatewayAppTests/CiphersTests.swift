import Base
import Configuration
import JSON
import Testing

@testable import GatewayApp

/// The encryption of messages that waited for the wall clock.
struct CiphersTests {
    private func configuration(_ members: String) throws -> Configuration {
        let text = "{_type: \"configuration\", username: \"jane\", deviceId: \"hall\", \(members)}"
        return try Configuration(parsing: Array(text.utf8), hostName: "test")
    }

    private func isEncrypted(by ciphers: Ciphers, topic: String) throws -> Bool {
        let message = Publication(
            .transition, of: topic, topic: topic + "/event", payload: Array("{}".utf8), qos: .atLeastOnce,
            isRetained: false, happened: .zero)
        return try JSONValue(parsing: ciphers.encrypted(message.payload, of: message))["_type"] == "encrypted"
    }

    @Test func `A message of a topic that a tracker had before is encrypted with the key of that time`() throws {
        let ciphers = Ciphers(try configuration("encryptionKey: \"s3cret\""))
        ciphers.update(try configuration("pubTopicBase: \"a/b\""))
        #expect(try isEncrypted(by: ciphers, topic: "owntracks/jane/hall"))
        #expect(try !isEncrypted(by: ciphers, topic: "a/b"))
        ciphers.update(try configuration(""))
        #expect(try !isEncrypted(by: ciphers, topic: "owntracks/jane/hall"))
    }

    @Test func `A message of a topic from before the start is encrypted if there is a key`() throws {
        #expect(try isEncrypted(by: Ciphers(try configuration("encryptionKey: \"s3cret\"")), topic: "a/b"))
        #expect(try !isEncrypted(by: Ciphers(try configuration("")), topic: "a/b"))
    }
}
