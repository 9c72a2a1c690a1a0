import Base

/// Names for Home Assistant's discovery topics and unique ids, which take only `[a-zA-Z0-9_-]`.
enum DiscoveryIdentifier {
    /// Any text as an identifier. Different texts give different identifiers, and the same text always
    /// the same: what may not stand there is written as `_` and the hexadecimal digits of its bytes.
    ///
    /// Beyond 80 bytes the middle is replaced by a hash: the limit of a topic must not be reached.
    static func identifier(of text: String) -> String {
        var identifier = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                identifier.unicodeScalars.append(UnicodeScalar(byte))
            default:
                identifier += "_" + hexadecimalDigits(UInt64(byte), count: 2)
            }
        }
        guard identifier.utf8.count > 80 else { return identifier }
        return identifier.prefix(60) + "__" + hexadecimalDigits(hash(text), count: 16)
    }

    /// FNV-1a with 64 bits: the same on every machine and in every run, unlike Swift's own hash.
    private static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    private static func hexadecimalDigits(_ value: UInt64, count: Int) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
    }
}

extension String {
    /// At most 80 characters without control characters: a name as Home Assistant can show it.
    ///
    /// Names are never put into templates, so nothing else in them can do harm.
    var asEntityName: String {
        var name = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            guard name.count < 80 else { break }
            let isControl =
                scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
            name.append(isControl ? " " : scalar)
        }
        let text = String(name).drop { $0 == "-" || $0 == " " }
        return String(text)
    }
}

/// A point in time in the form of ISO 8601 that Home Assistant reads, in UTC.
func iso8601(epochSeconds: Int64) -> String {
    let days = Int((Double(epochSeconds) / 86_400).rounded(.down))
    let second = Int(epochSeconds) - days * 86_400
    // Days to a date in the Gregorian calendar, counting years from March so that the leap day is last.
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * month + 2) / 5 + 1
    let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let date = "\(year)-\(two(month < 10 ? month + 3 : month - 9))-\(two(day))"
    return "\(date)T\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60))+00:00"
}
