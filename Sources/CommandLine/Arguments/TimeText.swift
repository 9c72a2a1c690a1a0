import Glibc
import System

/// Times of day as people write and read them.
enum TimeText {
    /// `2026-01-31 12:00:00`, in UTC.
    static func utc(_ epochSeconds: Int64) -> String {
        var seconds = time_t(epochSeconds)
        var parts = tm()
        guard gmtime_r(&seconds, &parts) != nil else { return "\(epochSeconds)" }
        let date = "\(Int(parts.tm_year) + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
        return "\(date) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
    }

    /// Reads a time: `90m`, `2h` or `3d` ago, epoch seconds, or a date with or without a time, in UTC.
    static func epochSeconds(_ text: String) throws(Failure) -> Int64 {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604_800]
        if let last = text.last, let unit = units[last], let count = Int64(text.dropLast()),
            (0...1_000_000).contains(count)
        {
            return Int64(time(nil)) - count * unit
        }
        if let seconds = Int64(text), text.count >= 5 { return seconds }
        if let seconds = calendar(text) { return seconds }
        throw Failure(
            .usage, "'\(text)' is no time; write 90m, 2h, 3d, epoch seconds, or a date such as 2026-01-31T12:00")
    }

    /// `2026-01-31`, with `T12:00` or `T12:00:00` behind it or not; nil for what no calendar has.
    private static func calendar(_ text: String) -> Int64? {
        let halves = text.split(whereSeparator: { $0 == "T" || $0 == " " }).map(String.init)
        guard (1...2).contains(halves.count) else { return nil }
        let date = halves[0].split(separator: "-").compactMap { Int32($0) }
        let time = halves.count == 2 ? halves[1].split(separator: ":").compactMap { Int32($0) } : [0, 0]
        guard date.count == 3, date[0] >= 1970, time.count == 2 || time.count == 3 else { return nil }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (date[0] - 1900, date[1] - 1, date[2])
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (time[0], time[1], time.count == 3 ? time[2] : 0)
        let wanted = [parts.tm_year, parts.tm_mon, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec]
        let seconds = timegm(&parts)
        // The 31st of June would have become the 1st of July.
        guard wanted == [parts.tm_year, parts.tm_mon, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec] else {
            return nil
        }
        return Int64(seconds)
    }

    private static func two(_ number: Int32) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
