import Base
import System

/// Times of day in a readable form.
enum TimeText {
    /// `2026-01-31 12:00:00`, in UTC.
    static func utc(_ epochSeconds: Int64) -> String {
        CalendarTime(epochSeconds: epochSeconds).map { "\($0.date) \($0.timeOfDay)" } ?? "\(epochSeconds)"
    }

    /// In which zone a command shows times to people. JSON and CSV have epoch seconds and UTC everywhere.
    enum Zone {
        case utc
        case local

        static let option = "utc"
        static let help = "show times in UTC; on a terminal they are local otherwise"

        /// A title of a column with times.
        func title(_ text: String) -> String { self == .utc ? "\(text) (UTC)" : text }
    }

    /// `2026-01-31 12:00:00`
    static func full(_ epochSeconds: Int64, in zone: Zone) -> String { utc(shifted(epochSeconds, zone)) }

    /// `17:02` on the day of `now`, else `2026-01-31 17:02`; of UTC with the zone.
    static func short(_ epochSeconds: Int64, at now: Int64, in zone: Zone) -> String {
        guard let time = CalendarTime(epochSeconds: shifted(epochSeconds, zone)),
            let today = CalendarTime(epochSeconds: shifted(now, zone))
        else { return "\(epochSeconds)" }
        let clock = String(time.timeOfDay.prefix(5)) + (zone == .utc ? " UTC" : "")
        return time.date == today.date ? clock : "\(time.date) \(clock)"
    }

    private static func shifted(_ epochSeconds: Int64, _ zone: Zone) -> Int64 {
        zone == .utc ? epochSeconds : epochSeconds &+ Clocks.secondsEast(at: epochSeconds)
    }

    /// Reads a time: `90m`, `2h` or `3d` ago, epoch seconds, or a date with or without a time, in UTC.
    static func epochSeconds(_ text: String) throws(Failure) -> Int64 {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604_800]
        if let last = text.last, let unit = units[last], let count = Int64(text.dropLast()),
            (0...1_000_000).contains(count)
        {
            return Clocks.wallSeconds() - count * unit
        }
        if let seconds = Int64(text), text.count >= 5 { return seconds }
        if let seconds = calendar(text) { return seconds }
        throw Failure(
            .usage, "'\(text)' is not a time; write 90m, 2h, 3d, epoch seconds, or a date such as 2026-01-31T12:00")
    }

    /// Reads `2026-01-31`, optionally with `T12:00` or `T12:00:00`; nil if the date does not exist.
    private static func calendar(_ text: String) -> Int64? {
        let halves = text.split(whereSeparator: { $0 == "T" || $0 == " " }).map(String.init)
        guard (1...2).contains(halves.count) else { return nil }
        let date = halves[0].split(separator: "-").compactMap { Int($0) }
        let time = halves.count == 2 ? halves[1].split(separator: ":").compactMap { Int($0) } : [0, 0]
        guard date.count == 3, date[0] >= 1970, time.count == 2 || time.count == 3 else { return nil }
        return CalendarTime(
            year: date[0], month: date[1], day: date[2], hour: time[0], minute: time[1],
            second: time.count == 3 ? time[2] : 0
        ).epochSeconds
    }
}
