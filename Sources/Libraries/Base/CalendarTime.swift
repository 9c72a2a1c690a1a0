import Glibc

/// A date and a time of day in UTC.
package struct CalendarTime: Hashable, Sendable {
    package let year: Int
    /// From 1.
    package let month: Int
    package let day: Int
    package let hour: Int
    package let minute: Int
    package let second: Int

    /// - Parameter epochSeconds: Seconds since 1970.
    /// - Returns: nil if the year does not fit into 32 bits.
    package init?(epochSeconds: Int64) {
        var seconds = time_t(epochSeconds)
        var parts = tm()
        guard gmtime_r(&seconds, &parts) != nil else { return nil }
        self.init(
            year: Int(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday),
            hour: Int(parts.tm_hour), minute: Int(parts.tm_min), second: Int(parts.tm_sec))
    }

    package init(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0) {
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
    }

    /// Seconds since 1970; nil if the calendar has no such day or time, such as the 31st of June.
    package var epochSeconds: Int64? {
        guard let year = Int32(exactly: year - 1900), let month = Int32(exactly: month - 1),
            let day = Int32(exactly: day), let hour = Int32(exactly: hour), let minute = Int32(exactly: minute),
            let second = Int32(exactly: second)
        else { return nil }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (year, month, day)
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (hour, minute, second)
        let seconds = Int64(timegm(&parts))
        // The C library turns the 31st of June into the 1st of July.
        return CalendarTime(epochSeconds: seconds) == self ? seconds : nil
    }

    /// `2026-01-31`
    package var date: String { "\(year)-\(Self.twoDigits(month))-\(Self.twoDigits(day))" }

    /// `12:00:00`
    package var timeOfDay: String {
        "\(Self.twoDigits(hour)):\(Self.twoDigits(minute)):\(Self.twoDigits(second))"
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
