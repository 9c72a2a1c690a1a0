import Base
import TestSupport
import Testing

@testable import Beacon

@Suite("The value types")
struct ValueTests {
    @Test(
        "a UUID is read dashed or not, in any case, and printed in one way",
        arguments: [
            "CA271EAE-5FA8-4E80-8F08-2A302A95A959", "ca271eae-5fa8-4e80-8f08-2a302a95a959",
            "CA271EAE5FA84E808F082A302A95A959", "Ca271eAE5fa84e808F082a302a95a959",
        ])
    func readableUUID(_ text: String) {
        #expect(BeaconUUID(text) == Packets.uuid)
        #expect(BeaconUUID(text)?.description == "CA271EAE-5FA8-4E80-8F08-2A302A95A959")
    }

    @Test(
        "nothing else is a UUID",
        arguments: [
            "", "-", "----", "CA271EAE-5FA8-4E80-8F08-2A302A95A95", "CA271EAE-5FA8-4E80-8F08-2A302A95A9590",
            "CA271EAE5FA84E808F082A302A95A95", "CA271EAE5FA84E808F082A302A95A9591", "CA271EAE-5FA84E808F082A302A95A959",
            "CA271EAE5-FA8-4E80-8F08-2A302A95A959", "{CA271EAE-5FA8-4E80-8F08-2A302A95A959}",
            "GA271EAE-5FA8-4E80-8F08-2A302A95A959", " CA271EAE-5FA8-4E80-8F08-2A302A95A959",
            "CA271EAE-5FA8-4E80-8F08--2A302A95A95", "ＣA271EAE-5FA8-4E80-8F08-2A302A95A959",
        ])
    func unreadableUUID(_ text: String) {
        #expect(BeaconUUID(text) == nil)
    }

    @Test("every UUID reads back as itself")
    func roundTrip() {
        var random = SplitMix64(seed: 1)
        for _ in 0..<200 {
            let uuid = BeaconUUID(high: random.next(), low: random.next())
            #expect(BeaconUUID(uuid.description) == uuid)
        }
    }

    @Test("an address needs six octets behind the offset", arguments: [(-1, false), (0, true), (1, true), (2, false)])
    func addressBounds(offset: Int, isThere: Bool) {
        let bytes: [UInt8] = [1, 2, 3, 4, 5, 6, 7]
        #expect((DeviceAddress(littleEndian: bytes.span, at: offset, isRandom: false) != nil) == isThere)
    }

    @Test("durations become nanoseconds without overflow")
    func nanoseconds() {
        #expect(Duration.milliseconds(1500).nanoseconds == 1_500_000_000)
        #expect(Duration.seconds(-2).nanoseconds == -2_000_000_000)
        #expect(Duration.seconds(Int64.max).nanoseconds == .max)
        #expect(Duration.seconds(Int64.min).nanoseconds == .min)
    }

    @Test("instants and durations undo each other")
    func instants() {
        let start = MonotonicInstant(nanoseconds: 5)
        #expect(start.advanced(by: .seconds(3)).nanoseconds == 3_000_000_005)
        #expect(start.duration(to: start.advanced(by: .milliseconds(7))) == .milliseconds(7))
        #expect(start < start.advanced(by: .nanoseconds(1)))
    }
}
