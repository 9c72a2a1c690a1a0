import Beacon

/// Reads the payload of `heard` only in the exact form that gateways write: without a tree of JSON values, a message takes a
/// tenth of the time. A rooms service reads little else.
///
/// It accepts only payloads that `FeedDecoder` would read to the same value. For any other form it returns nil, and
/// `FeedDecoder` reads the payload.
struct HeardScanner {
    private var cursor = 0

    static func scan(_ bytes: Span<UInt8>) -> HeardSecond? {
        guard bytes.count <= FeedDecoder.mostHeardBytes else { return nil }
        var scanner = HeardScanner()
        return scanner.message(bytes)
    }

    private mutating func message(_ bytes: Span<UInt8>) -> HeardSecond? {
        guard skip(bytes, #"{"v":1,"boot":""#), let startID = plainText(bytes),
            skip(bytes, #","seq":"#), let sequence = whole(bytes),
            skip(bytes, #","at":"#), let at = whole(bytes), (0...1 << 52).contains(at),
            skip(bytes, #","listening":"#), let listening = whole(bytes), (0...3_600_000).contains(listening),
            skip(bytes, #","reports":"#), let reports = whole(bytes), reports >= 0, sequence >= 0,
            skip(bytes, #","beacons":["#)
        else { return nil }
        var readings: [Reading] = []
        if !skip(bytes, "]") {
            // A reading with a level has at least 80 bytes.
            readings.reserveCapacity(min(FeedDecoder.mostReadings, (bytes.count - cursor) / 80 + 1))
            repeat {
                guard readings.count < FeedDecoder.mostReadings, let reading = reading(bytes) else { return nil }
                readings.append(reading)
            } while skip(bytes, ",")
            guard skip(bytes, "]") else { return nil }
        }
        guard skip(bytes, "}"), cursor == bytes.count else { return nil }
        return HeardSecond(
            startID: startID, sequence: sequence, at: .milliseconds(at), listening: .milliseconds(listening),
            reports: reports, readings: readings)
    }

    private mutating func reading(_ bytes: Span<UInt8>) -> Reading? {
        guard skip(bytes, #"{"id":""#), let uuid = uuid(bytes), skip(bytes, ":"), let major = identifier(bytes),
            skip(bytes, ":"),
            let minor = identifier(bytes), skip(bytes, #"","n":"#), let count = whole(bytes),
            (1...100_000).contains(count)
        else { return nil }
        var level: Float?
        if skip(bytes, #","rssi":"#) {
            guard let median = dBm(bytes), skip(bytes, #","max":"#), dBm(bytes) != nil else { return nil }
            level = median
        }
        guard skip(bytes, #","power":"#), let power = dBm(bytes), skip(bytes, #","age":"#), let age = whole(bytes),
            (0...60_000).contains(age)
        else { return nil }
        var battery: UInt8?
        if skip(bytes, #","battery":"#) {
            guard let percent = whole(bytes), (0...100).contains(percent) else { return nil }
            battery = UInt8(percent)
        }
        guard skip(bytes, "}") else { return nil }
        return Reading(
            beacon: BeaconID(uuid: uuid, major: major, minor: minor), count: Int(count), level: level, power: power,
            age: .milliseconds(age), battery: battery)
    }

    private mutating func skip(_ bytes: Span<UInt8>, _ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard cursor + count <= bytes.count else { return false }
        for offset in 0..<count where bytes[cursor + offset] != text.utf8Start[offset] { return false }
        cursor += count
        return true
    }

    /// Printable ASCII up to the closing quotation mark, which is skipped.
    private mutating func plainText(_ bytes: Span<UInt8>) -> String? {
        let start = cursor
        var characters: [UInt8] = []
        while cursor < bytes.count, cursor - start <= FeedDecoder.mostStartIDBytes {
            let byte = bytes[cursor]
            if byte == UInt8(ascii: "\"") {
                let text = String(decoding: characters, as: UTF8.self)
                cursor += 1
                return text
            }
            guard (0x20..<0x7f).contains(byte), byte != UInt8(ascii: "\\") else { return nil }
            characters.append(byte)
            cursor += 1
        }
        return nil
    }

    /// An integer of at most 18 digits.
    private mutating func whole(_ bytes: Span<UInt8>) -> Int64? {
        let isNegative = skip(bytes, "-")
        let start = cursor
        var value: Int64 = 0
        while cursor < bytes.count, cursor - start < 18, (0x30...0x39).contains(bytes[cursor]) {
            value = value * 10 + Int64(bytes[cursor] - 0x30)
            cursor += 1
        }
        // Zero is one digit without a sign. Other numbers have no leading zero.
        guard cursor > start, bytes[start] != 0x30 || cursor == start + 1 && !isNegative else { return nil }
        return isNegative ? -value : value
    }

    /// A level that a radio can measure.
    private mutating func dBm(_ bytes: Span<UInt8>) -> Float? {
        guard let value = whole(bytes), (-127...20).contains(value) else { return nil }
        return Float(value)
    }

    /// A major or minor number.
    private mutating func identifier(_ bytes: Span<UInt8>) -> UInt16? { whole(bytes).flatMap { UInt16(exactly: $0) } }

    /// A UUID in groups of 8, 4, 4, 4 and 12 digits.
    private mutating func uuid(_ bytes: Span<UInt8>) -> BeaconUUID? {
        guard cursor + 36 <= bytes.count else { return nil }
        var (high, low): (UInt64, UInt64) = (0, 0)
        for offset in 0..<36 {
            let byte = bytes[cursor + offset]
            if offset == 8 || offset == 13 || offset == 18 || offset == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = Self.digit(byte) else { return nil }
            if offset < 18 { high = high << 4 | digit } else { low = low << 4 | digit }
        }
        cursor += 36
        return BeaconUUID(high: high, low: low)
    }

    private static func digit(_ byte: UInt8) -> UInt64? {
        switch byte {
        case 0x30...0x39: UInt64(byte - 0x30)
        case 0x41...0x46: UInt64(byte - 0x37)
        case 0x61...0x66: UInt64(byte - 0x57)
        default: nil
        }
    }
}
