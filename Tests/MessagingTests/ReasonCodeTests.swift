import Base
import Testing

@testable import Messaging

/// The codes of MQTT 5, section 2.4, with which a server refuses something.
@Suite struct ReasonCodeTests {
    /// All codes of the table that a client can meet; 0x92 and 0x94 are answers to packets that this client does not send.
    private static let codes: [UInt8] = Array(0x80...0x91) + [0x93] + Array(0x95...0xa2)

    @Test func `Each code has words`() {
        #expect(Self.codes.filter { BrokerFailure.reason(code: $0).contains("code") } == [])
        #expect(BrokerFailure.reason(code: 0xfe) == "reason code 254")
    }

    @Test func `Which codes ask for a right, for a larger quota, and for another broker`() {
        let quota = Self.codes.filter { BrokerFailure.cause(code: $0) == .quota }
        let unsupported = Self.codes.filter { BrokerFailure.cause(code: $0) == .unsupported }
        #expect(quota == [0x91, 0x93, 0x96, 0x97])
        #expect(unsupported == [0x8f, 0x90, 0x99, 0x9e, 0xa1, 0xa2])
        #expect(Refusal.byBroker(reasonCode: 0x97).cause == .quota && Refusal.malformed.cause == .rights)
    }
}
