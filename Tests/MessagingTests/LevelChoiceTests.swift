import Base
import Testing

@testable import Messaging

/// Which version of MQTT is tried next, and whose words name the cause.
@Suite struct LevelChoiceTests {
    private static let forbidden = BrokerFailure.invalidPacket("a property 127, which CONNACK has not")
    private static let otherVersion = BrokerFailure.invalidPacket("a CONNACK of 5 bytes, where MQTT 3.1.1 has two")

    /// What is told after an attempt with MQTT 5 and one with 3.1.1.
    private func told(_ first: BrokerFailure, _ second: BrokerFailure) -> BrokerFailure {
        var levels = LevelChoice(preferred: .v5, fallback: .v3_1_1)
        let verdict = levels.failed(first)
        #expect(verdict == .atOnce && levels.level == .v3_1_1)
        let cause = levels.cause(of: second)
        let next = levels.failed(second)
        #expect(next == .later && levels.level == .v5)
        // The next round begins anew.
        #expect(levels.cause(of: second) == second)
        return cause
    }

    @Test func `A forbidden packet of MQTT 5 is the cause, whatever the second version makes of it`() {
        for second in [Self.otherVersion, .protocolViolation, .closed(code: nil), .silent] {
            #expect(told(Self.forbidden, second) == Self.forbidden)
        }
    }

    @Test func `What the second version says of the login, the network or TLS is the cause`() {
        for second in [BrokerFailure.notAccepted(code: 5), .notAccepted(code: 1), .unreachable("gone"), .tls("x")] {
            #expect(told(Self.forbidden, second) == second)
        }
    }

    @Test func `A broker that does not answer MQTT 5 is named by the words of the second version`() {
        for first in [BrokerFailure.closed(code: nil), .notAccepted(code: 0x84), .silent] {
            #expect(told(first, .notAccepted(code: 4)) == .notAccepted(code: 4))
            #expect(told(first, .closed(code: nil)) == .closed(code: nil))
        }
    }

    @Test func `Once the second version is accepted, later failures are its own`() {
        var levels = LevelChoice(preferred: .v5, fallback: .v3_1_1)
        _ = levels.failed(Self.forbidden)
        levels.accepted()
        #expect(levels.cause(of: Self.otherVersion) == Self.otherVersion)
        let verdict = levels.failed(Self.otherVersion)
        #expect(verdict == .asBefore && levels.level == .v3_1_1)
    }
}
