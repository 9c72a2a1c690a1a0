import Beacon

/// Scan responses among the reports of an event: what a device says only when it is asked.
enum ScanResponses {
    private static let meta = AdvertisingReportParser.leMetaEvent
    /// LE Advertising Report and LE Extended Advertising Report (Core Specification 5.4, Vol 4, Part E, 7.7.65.2 and 7.7.65.13).
    private static let (legacy, extended): (UInt8, UInt8) = (0x02, 0x0d)

    /// An event without its scan responses.
    ///
    /// - Returns: The same reports but those; nil if there are none, or if the event is malformed: it is taken as it is then.
    static func removed(from event: Span<UInt8>) -> [UInt8]? {
        guard event.count > 4, event[0] == meta, event[2] == legacy || event[2] == extended else { return nil }
        let isLegacy = event[2] == legacy
        // Bytes before the data, of which the last is its length, and bytes behind it.
        let (header, trailer) = isLegacy ? (9, 1) : (24, 0)
        var kept = [meta, 0, event[2], 0]
        var (offset, left) = (4, Int(event[3]))
        while left > 0 {
            guard offset + header <= event.count else { return nil }
            let end = offset + header + Int(event[offset + header - 1]) + trailer
            guard end <= event.count else { return nil }
            let isResponse = isLegacy ? event[offset] == 4 : event[offset] & 8 != 0
            if !isResponse {
                kept[3] += 1
                for index in offset..<end { kept.append(event[index]) }
            }
            offset = end
            left -= 1
        }
        guard kept[3] < event[3] else { return nil }
        kept[1] = UInt8(truncatingIfNeeded: kept.count - 2)
        return kept
    }
}
