import Base
import Configuration
import Messaging
import Testing

@testable import Shell

/// What a person is told to do when the broker refuses the connection.
@Suite struct BrokerAdviceTests {
    private func advice(_ code: UInt8, _ members: String = "username: 'jane', clientId: 'hall'") throws -> String {
        let broker = try Configuration(parsing: "{\(members)}".utf8, hostName: "pi").broker
        return BrokerAdvice.text(for: .notAccepted(code: code), broker)
    }

    @Test(arguments: [
        (UInt8(1), "mqttProtocolLevel"), (0x84, "mqttProtocolLevel"), (2, "'hall'"), (0x85, "'hall'"), (3, "own log"),
        (4, "check \"username\""), (0x86, "check \"username\""), (0x80, "own log"), (0x88, "own log"),
        (0x89, "own log"),
        (0x8b, "own log"), (0x8a, "list of banned clients"), (0x8c, "check \"username\""), (0x95, "will"),
        (0x97, "quota"), (0x9a, "will"), (0x9d, "\"host\""), (0x9f, "limit of new connections"),
    ])
    func `Each code of CONNACK has the advice that fits it`(code: UInt8, words: String) throws {
        let text = try advice(code)
        #expect(text.contains(words), "\(text)")
    }

    @Test func `No code asks for a change of a setting that it does not name`() throws {
        for code in 1...UInt8.max { #expect(try !advice(code).contains("that setting"), "\(code)") }
    }

    @Test(arguments: [UInt8(5), 0x87])
    func `A login that is not authorised may be right, and lack the right to its own topics`(code: UInt8) throws {
        let text = try advice(code)
        #expect(text.hasPrefix("check \"username\" and the password") && text.contains("its own topics"), "\(text)")
        #expect(try advice(code, "").hasPrefix("this broker requires a login"))
    }
}
