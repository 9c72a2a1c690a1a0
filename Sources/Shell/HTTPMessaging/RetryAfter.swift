import Base

/// How long a server asks to be left alone, from the lines of its answer's header (RFC 9110, section 10.2.3).
///
/// A date counts from the answer's own `Date`: a gateway may have no clock, and its time would make an hour of a second.
package struct RetryAfter: Sendable {
    /// A longer pause is not granted: a server with a wrong clock or setting would hold up the transitions of a day.
    package static let longest: Duration = .seconds(3600)
    /// Longer values are no number and no date.
    private static let mostBytes = 64

    private var wish = ""
    private var date = ""

    package init() {}

    /// Reads one line of the header. A status line begins another answer, such as the one behind "100 Continue".
    package mutating func read(_ line: some Collection<UInt8>) {
        if line.starts(with: "HTTP/".utf8) { self = RetryAfter() }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
        let value = line[line.index(after: colon)...].drop(while: Self.isBlank)
        switch String(decoding: line[..<colon].prefix(Self.mostBytes), as: UTF8.self).lowercased() {
        case "retry-after": wish = Self.text(value)
        case "date": date = Self.text(value)
        default: break
        }
    }

    /// nil: the server asks for none, or says it in no form that can be read.
    package var pause: Duration? {
        if !wish.isEmpty, Self.isDigits(wish) {
            // What does not fit into a number is more than the limit, too.
            return min(Int64(wish).map { .seconds($0) } ?? Self.longest, Self.longest)
        }
        guard let end = Self.seconds(ofDate: wish), let begin = Self.seconds(ofDate: date) else { return nil }
        return .seconds(min(max(end - begin, 0), Self.longest.components.seconds))
    }

    /// Seconds since 1970; nil: it is no date such as `Sun, 06 Nov 1994 08:49:37 GMT`. The two older forms are not read.
    private static func seconds(ofDate text: String) -> Int64? {
        let words = text.split(separator: " ")
        guard words.count == 6, words[0].utf8.count == 4, words[0].hasSuffix(","), words[5] == "GMT" else { return nil }
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let time = words[4].split(separator: ":", omittingEmptySubsequences: false)
        guard let month = months.firstIndex(where: { $0 == words[2] }), time.count == 3 else { return nil }
        guard let day = number(words[1], digits: 2), let year = number(words[3], digits: 4),
            let hour = number(time[0], digits: 2), let minute = number(time[1], digits: 2),
            let second = number(time[2], digits: 2)
        else { return nil }
        return CalendarTime(
            year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second
        ).epochSeconds
    }

    private static func number(_ text: Substring, digits: Int) -> Int? {
        text.utf8.count == digits && isDigits(text) ? Int(text) : nil
    }

    private static func isDigits(_ text: some StringProtocol) -> Bool {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// Without the blanks and the end of the line behind it; empty if it is too long.
    private static func text(_ value: some Collection<UInt8>) -> String {
        let bytes = Array(value.prefix(mostBytes + 1))
        guard bytes.count <= mostBytes else { return "" }
        let end = bytes.lastIndex { !isBlank($0) } ?? -1
        return String(decoding: bytes[...end], as: UTF8.self)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0d, 0x0a].contains(byte) }
}
