import Base
import Beacon

/// The payload of `ibeacon-rooms/<site>/heard/<gateway>`, version 1. `FeedDecoder.heard` reads it.
///
/// The text is written directly, without a tree of JSON values, because a gateway writes it every second. No text in it
/// needs escaping.
enum HeardMessage {
    /// Largest number of tags in one message. Further tags go into further messages with the same `at`.
    static let mostBeacons = 256

    /// The members that all messages of one second share.
    struct Header {
        let boot: String
        /// End of the second.
        let at: MonotonicInstant
        /// Listening time of the radio in the second.
        let listened: Duration
        /// Advertising reports since the previous message.
        let reports: UInt64
    }

    static func payloads(
        _ header: Header, firstSequence: UInt64, _ readings: some Collection<Reading>
    ) -> [[UInt8]] {
        var payloads: [[UInt8]] = []
        var rest = readings[...]
        repeat {
            payloads.append(
                payload(header, sequence: firstSequence &+ UInt64(payloads.count), rest.prefix(mostBeacons)))
            rest = rest.dropFirst(mostBeacons)
        } while !rest.isEmpty
        return payloads
    }

    private static func payload(
        _ header: Header, sequence: UInt64, _ readings: some Collection<Reading>
    ) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(128 + readings.count * 128)
        text += #"{"v":1,"boot":"\#(header.boot)","seq":\#(sequence),"at":\#(milliseconds(header.at))"#.utf8
        text += #","listening":\#(header.listened.nanoseconds / 1_000_000),"reports":\#(header.reports)"#.utf8
        text += #","beacons":["#.utf8
        for (position, reading) in readings.enumerated() {
            if position > 0 { text.append(UInt8(ascii: ",")) }
            text += #"{"id":"\#(reading.beacon)","n":\#(reading.count)"#.utf8
            if let levels = reading.levelSummary {
                text += #","rssi":\#(levels.median),"max":\#(levels.strongest)"#.utf8
            }
            let age = reading.last.duration(to: header.at).nanoseconds / 1_000_000
            text += #","power":\#(reading.measuredPower.dBm),"age":\#(max(0, age))}"#.utf8
        }
        text += "]}".utf8
        return text
    }

    private static func milliseconds(_ instant: MonotonicInstant) -> Int64 { instant.nanoseconds / 1_000_000 }
}
