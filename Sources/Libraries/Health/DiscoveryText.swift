import Base

extension String {
    /// A name for Home Assistant: at most 80 characters without control characters.
    ///
    /// Names are never put into templates, so nothing else in them can do harm.
    package var asEntityName: String {
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

/// A point in time in the form of ISO 8601 that Home Assistant reads, in UTC; nil if the year does not fit into 32
/// bits.
package func iso8601(epochSeconds: Int64) -> String? {
    CalendarTime(epochSeconds: epochSeconds).map { "\($0.date)T\($0.timeOfDay)+00:00" }
}
