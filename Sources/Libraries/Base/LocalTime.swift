/// A date and a time of day in the time zone of the machine.
package struct LocalTime: Hashable, Sendable, CustomStringConvertible {
    package let calendar: CalendarTime
    /// Seconds by which local time is ahead of UTC.
    package let secondsEast: Int64

    /// ISO 8601: `2026-01-31T12:00:00+01:00`
    package var description: String {
        let minutes = secondsEast.magnitude / 60
        func twoDigits(_ number: UInt64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let offset = (secondsEast < 0 ? "-" : "+") + twoDigits(minutes / 60) + ":" + twoDigits(minutes % 60)
        return "\(calendar.date)T\(calendar.timeOfDay)\(offset)"
    }
}

extension WallClock {
    /// Local time; nil while the time of day is not known.
    package func localTime(at instant: MonotonicInstant) -> LocalTime? {
        guard isKnown else { return nil }
        let epoch = epochSeconds(at: instant)
        let secondsEast = utcOffset.secondsEast(at: epoch)
        return CalendarTime(epochSeconds: epoch &+ secondsEast).map {
            LocalTime(calendar: $0, secondsEast: secondsEast)
        }
    }

    /// The local midnight that begins the day of `instant`, in epoch seconds; nil while the time of day is not known.
    package func dayBegin(at instant: MonotonicInstant) -> Int64? {
        guard let today = localTime(at: instant)?.calendar,
            let midnight = CalendarTime(year: today.year, month: today.month, day: today.day).epochSeconds
        else { return nil }
        // The offset may have changed since midnight.
        return midnight - utcOffset.secondsEast(at: midnight - utcOffset.secondsEast(at: midnight))
    }
}
