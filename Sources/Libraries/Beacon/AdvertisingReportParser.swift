/// Takes HCI events apart into advertising reports (Core Specification 5.4, Vol 4, Part E, 7.7.65.2 and 7.7.65.13). Any
/// bytes may come: whole reports are delivered, malformed input is counted.
public struct AdvertisingReportParser: Sendable {
    /// The counts of malformed input so far, by kind.
    public package(set) var malformed = MalformedCounters()
    /// Reports delivered so far.
    public private(set) var reports: UInt64 = 0
    /// Fragments skipped because they continue the data of an earlier report.
    public private(set) var continuations: UInt64 = 0

    /// The advertising sets whose data continues in a later report. The continuation starts in the middle of an AD
    /// structure, where any bytes could look like a beacon.
    private var fragmented = FragmentedSets()

    /// A parser that has read nothing.
    public init() {}

    /// HCI event code of LE Meta events.
    package static let leMetaEvent: UInt8 = 0x3e
    private static let legacySubevent: UInt8 = 0x02
    private static let extendedSubevent: UInt8 = 0x0d

    /// Calls `body` for each advertising report of one HCI event.
    ///
    /// - Parameters:
    ///   - event: The event from its event code on (no H4 packet type). Events of other kinds are skipped.
    ///   - body: Gets the report and the advertising data, which is valid only during the call.
    @inline(__always)
    public mutating func parse(
        event: Span<UInt8>, _ body: (_ report: AdvertisingReport, _ data: Span<UInt8>) -> Void
    ) {
        guard event.count >= 2 else { return malformed.count(.truncatedEvent) }
        guard event[0] == Self.leMetaEvent else { return }
        let end = 2 + Int(event[1])
        guard event.count >= end, end > 2 else { return malformed.count(.truncatedEvent) }
        let subevent = event[2]
        guard subevent == Self.legacySubevent || subevent == Self.extendedSubevent else { return }
        guard end > 3 else { return malformed.count(.truncatedEvent) }
        guard event[3] > 0 else { return malformed.count(.noReports) }
        // Two calls, so that the compiler makes two loops in which the offsets are constants.
        if subevent == Self.legacySubevent {
            parseReports(Int(event[3]), of: event.extracting(4..<end), layout: .legacy, body)
        } else {
            parseReports(Int(event[3]), of: event.extracting(4..<end), layout: .extended, body)
        }
        if event.count > end { malformed.count(.trailingBytes) }
    }

    @inline(__always)
    private mutating func parseReports(
        _ count: Int, of bytes: Span<UInt8>, layout: ReportLayout,
        _ body: (_ report: AdvertisingReport, _ data: Span<UInt8>) -> Void
    ) {
        var offset = 0
        for _ in 0..<count {
            guard bytes.count - offset >= layout.headerLength else { return malformed.count(.truncatedReport) }
            let dataStart = offset + layout.headerLength
            let dataEnd = dataStart + Int(bytes[dataStart - 1])
            let reportEnd = dataEnd + layout.trailerLength
            guard bytes.count >= reportEnd else { return malformed.count(.truncatedReport) }
            defer { offset = reportEnd }
            guard dataEnd - dataStart <= layout.longestData else {
                malformed.count(.oversizedData)
                continue
            }
            let isRandom = bytes[offset + layout.addressOffset - 1] & 1 == 1
            guard
                let address = DeviceAddress(
                    littleEndian: bytes, at: offset + layout.addressOffset, isRandom: isRandom)
            else { return malformed.count(.truncatedReport) }
            if layout == .extended, continues(address, bytes, at: offset) {
                continuations += 1
                continue
            }
            let rssiOffset = layout == .legacy ? dataEnd : offset + 13
            reports += 1
            body(
                AdvertisingReport(address: address, rssi: RSSI(reported: Int8(bitPattern: bytes[rssiOffset]))),
                bytes.extracting(dataStart..<dataEnd))
        }
        if offset < bytes.count { malformed.count(.trailingBytes) }
    }

    /// Whether this report continues the data of an earlier one of the same advertising set.
    ///
    /// - Parameter offset: Where the report begins: its event type has the bit of a legacy packet, which is always whole, and two
    ///   bits of data status.
    @inline(__always)
    private mutating func continues(_ address: DeviceAddress, _ bytes: Span<UInt8>, at offset: Int) -> Bool {
        let isPartial = bytes[offset] & 0x70 == 0x20
        // Data is rarely longer than one report.
        guard isPartial || !fragmented.isEmpty else { return false }
        return bytes[offset] & 0x10 == 0 && fragmented.take(address, set: bytes[offset + 11], isPartial: isPartial)
    }
}

/// The latest advertising sets whose data is not whole yet. Fragments of several sets may come in turns.
private struct FragmentedSets {
    private static let most = 4
    private var sets = InlineArray<4, UInt64>(repeating: 0)
    private var next = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// - Parameter isPartial: Whether more data of the set will come.
    /// - Returns: Whether the data continues that of an earlier report.
    @inline(never)
    mutating func take(_ address: DeviceAddress, set: UInt8, isPartial: Bool) -> Bool {
        // Address, its kind, and the number of the set; never 0.
        let key = address.value << 16 | (address.isRandom ? 0x8000 : 0x4000) | UInt64(set)
        for index in sets.indices where sets[index] == key {
            if !isPartial {
                sets[index] = 0
                count -= 1
            }
            return true
        }
        guard isPartial else { return false }
        if sets[next] == 0 { count += 1 }
        sets[next] = key
        next = (next + 1) % Self.most
        return false
    }
}

/// The layout of one report in either kind of event.
private enum ReportLayout {
    case legacy, extended

    /// Bytes before the data; the last of them is the data's length.
    var headerLength: Int { self == .legacy ? 9 : 24 }
    /// Bytes after the data: a legacy report has its RSSI there.
    var trailerLength: Int { self == .legacy ? 1 : 0 }
    /// The offset of the address; the octet before it is the address type.
    var addressOffset: Int { self == .legacy ? 2 : 3 }
    /// The most data a report of this kind may carry.
    var longestData: Int { self == .legacy ? 31 : 229 }
}
