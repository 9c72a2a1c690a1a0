package import Base
package import Beacon

/// The payload of `ibeacon-rooms/<site>/heard/<gateway>`, version 1. `FeedDecoder.heard` reads it.
///
/// The text is written directly, without a tree of JSON values, because a gateway writes it every second. No text in it
/// needs escaping.
package enum HeardMessage {
    /// Largest number of tags in one message. Further tags go into further messages with the same `at`.
    package static let mostBeacons = 256

    /// The members that all messages of one second share.
    package struct Header {
        let startID: String
        /// End of the second.
        let at: MonotonicInstant
        /// Listening time of the radio in the second.
        let listened: Duration
        /// Advertising reports since the previous message.
        let reports: UInt64

        package init(startID: String, at: MonotonicInstant, listened: Duration, reports: UInt64) {
            (self.startID, self.at, self.listened, self.reports) = (startID, at, listened, reports)
        }
    }

    /// The packets of one tag in the second.
    package struct Entry {
        let beacon: BeaconID
        let count: UInt32
        /// dBm; nil if no packet had a level.
        let levels: (median: Int8, strongest: Int8)?
        let measuredPower: MeasuredPower
        /// When the last packet was heard.
        let last: MonotonicInstant
        /// Per cent; nil if the tag said nothing of its battery.
        let battery: UInt8?

        package init(
            beacon: BeaconID, count: UInt32, levels: (median: Int8, strongest: Int8)?, measuredPower: MeasuredPower,
            last: MonotonicInstant, battery: UInt8? = nil
        ) {
            self.beacon = beacon
            self.count = count
            self.levels = levels
            self.measuredPower = measuredPower
            self.last = last
            self.battery = battery
        }
    }

    /// It takes an array, because a generic function that another module calls is not specialised: each reading then cost a third
    /// more, and two allocations.
    package static func payloads(_ header: Header, firstSequence: UInt64, _ entries: [Entry]) -> [[UInt8]] {
        var payloads: [[UInt8]] = []
        var rest = entries[...]
        repeat {
            payloads.append(
                payload(header, sequence: firstSequence &+ UInt64(payloads.count), rest.prefix(mostBeacons)))
            rest = rest.dropFirst(mostBeacons)
        } while !rest.isEmpty
        return payloads
    }

    private static func payload(_ header: Header, sequence: UInt64, _ entries: ArraySlice<Entry>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(128 + entries.count * 128)
        text += #"{"v":1,"boot":"\#(header.startID)","seq":\#(sequence),"at":\#(milliseconds(header.at))"#.utf8
        text += #","listening":\#(header.listened.nanoseconds / 1_000_000),"reports":\#(header.reports)"#.utf8
        text += #","beacons":["#.utf8
        for (index, entry) in entries.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            text += #"{"id":"\#(entry.beacon)","n":\#(entry.count)"#.utf8
            if let levels = entry.levels {
                text += #","rssi":\#(levels.median),"max":\#(levels.strongest)"#.utf8
            }
            let age = entry.last.duration(to: header.at).nanoseconds / 1_000_000
            text += #","power":\#(entry.measuredPower.dBm),"age":\#(max(0, age))"#.utf8
            if let battery = entry.battery { text += #","battery":\#(battery)"#.utf8 }
            text.append(UInt8(ascii: "}"))
        }
        text += "]}".utf8
        return text
    }

    private static func milliseconds(_ instant: MonotonicInstant) -> Int64 { instant.nanoseconds / 1_000_000 }
}
