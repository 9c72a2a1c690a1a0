import Base
import Testing

@testable import Messaging

@Suite struct WillTests {
    @Test func `A will says when its connection begins, where it has a place for that`() {
        let payload = Array(#"{"tst":5}"#.utf8)
        let will = BrokerSettings.Will(topic: "t", payload: payload, qos: .atLeastOnce, timePlace: 7..<8)
        for time in [1_700_000_000, 7] as [Int64] {
            #expect(String(decoding: will.begun(at: time).payload, as: UTF8.self) == #"{"tst":\#(time)}"#)
        }
        let other = BrokerSettings.Will(topic: "t", payload: payload, qos: .atLeastOnce)
        #expect(other.begun(at: 7) == other)
    }
}
