import Base
import JSON
import OwnTracks
package import SiteProtocol

/// One line of a recording: a message as `mosquitto_sub -F '%j'` or `-F '%J'` prints it.
package struct RecordedMessage: Hashable, Sendable {
    /// Time of reception, nanoseconds since 1970.
    package let epochNanoseconds: Int64
    package let topic: String
    package let payload: [UInt8]
    package let isRetained: Bool

    /// Largest length of a line, bytes. A list of 10,000 tags, with every quote escaped, is 1.2 MB.
    package static let longestLine = 16 << 20

    /// - Throws: The first error in the line.
    package init(line: some Collection<UInt8>) throws(FeedError) {
        var limits = JSONLimits()
        limits.bytes = Self.longestLine
        let json = try mapError({ FeedError("not JSON: \($0)") }) { () throws(JSONError) in
            try JSONValue(parsing: line, limits: limits)
        }
        guard let topic = json["topic"]?.string else { throw FeedError("'topic' is missing or not a text") }
        guard let time = json["tst"].flatMap(Self.time) else {
            throw FeedError("'tst' is not a time such as 2026-11-21T23:04:23.612022Z+0000")
        }
        self.topic = topic
        epochNanoseconds = time
        isRetained = json["retain"]?.asBool ?? false
        payload =
            switch json["payload"] {
            case nil, .null: []
            case .string(let text): Array(text.utf8)
            case .some(let value): value.bytes
            }
    }

    // MARK: Time

    private static func time(_ json: JSONValue) -> Int64? {
        if let text = json.string { return time(text) }
        guard let seconds = json.asNumber, (0...4_102_444_800).contains(seconds) else { return nil }
        return Int64(seconds * 1e9)
    }

    /// Reads `2026-11-21T23:04:23.612022Z+0000`. The `Z` is literal; the offset after it applies. Without an offset the
    /// time is UTC.
    static func time(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 19, bytes.count <= 48 else { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            guard range.upperBound <= bytes.count else { return nil }
            var value: Int64 = 0
            for byte in bytes[range] {
                guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
                value = value * 10 + Int64(byte - UInt8(ascii: "0"))
            }
            return value
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
            let minute = number(14..<16), let second = number(17..<19), (1970...2200).contains(year),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 60
        else { return nil }
        var cursor = 19
        var nanoseconds: Int64 = 0
        if cursor < bytes.count, bytes[cursor] == UInt8(ascii: ".") || bytes[cursor] == UInt8(ascii: ",") {
            cursor += 1
            var unit: Int64 = 100_000_000
            while cursor < bytes.count, let digit = number(cursor..<cursor + 1) {
                nanoseconds += digit * unit
                unit /= 10
                cursor += 1
            }
        }
        if cursor < bytes.count, bytes[cursor] == UInt8(ascii: "Z") { cursor += 1 }
        var offset: Int64 = 0
        if cursor < bytes.count {
            let sign: Int64
            switch bytes[cursor] {
            case UInt8(ascii: "+"): sign = 1
            case UInt8(ascii: "-"): sign = -1
            default: return nil
            }
            let digits = bytes[(cursor + 1)...].filter { $0 != UInt8(ascii: ":") }
            guard digits.count == 4, digits.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) else {
                return nil
            }
            let value = digits.reduce(Int64(0)) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
            offset = sign * (value / 100 * 3600 + value % 100 * 60)
        }
        let time = CalendarTime(
            year: Int(year), month: Int(month), day: Int(day), hour: Int(hour), minute: Int(minute), second: Int(second)
        )
        return time.epochSeconds.map { ($0 - offset) * 1_000_000_000 + nanoseconds }
    }
}
