import Base
import Beacon
import Identities
import JSON
import OwnTracks
import Regions
import Scanning

/// The beacons that have been heard, for `scan`.
struct ScanTable {
    /// The subject of a row: a beacon, what a region names that is none, or with `--all` another advertiser.
    enum Subject: Hashable {
        case beacon(BeaconID)
        case frame(IdentityFrame)
        case other(DeviceAddress)
    }

    private struct Row {
        var name = ""
        /// What presence hears in the packets of an identity.
        var beacon: BeaconID?
        var measuredPower: MeasuredPower?
        var rssi: Double?
        var reports: UInt64 = 0
        var telemetry: BeaconTelemetry?
        var firstHeard: MonotonicInstant
        var lastHeard: MonotonicInstant
    }

    /// Weight of the newest report in the smoothed level, which is steady enough to read and follows within a second.
    private static let smoothing = 0.2
    /// Largest number of rows, because many beacons may pass. The oldest rows are removed.
    private static let mostRows = 500

    private let index: RegionIndex
    private let regionNames: [String]
    private let includesOthers: Bool
    private var rows: [Subject: Row] = [:]
    private var decoder = BeaconDecoder()
    private var resolver: IdentityResolver

    /// - Parameter resolver: With the keys of phones; the identities of the regions are added.
    init(regions: [Region], masks: BatteryMasks, resolver: IdentityResolver, includesOthers: Bool) {
        self.resolver = resolver
        let patterns = regions.compactMap { region -> (BeaconPattern, String)? in
            // A circle may have a UUID, too.
            guard case .beacon(let pattern) = region.kind else { return nil }
            return (pattern.cleared(of: masks), region.displayName)
        }
        decoder.masks = masks
        self.resolver.setIdentities(regions.compactMap(\.identity))
        let index = RegionIndex(patterns.map(\.0))
        self.index = index
        self.resolver.setNamed { index.hasMatch(of: BeaconID(uuid: $0, major: 0, minor: 0)) }
        regionNames = patterns.map(\.1)
        self.includesOthers = includesOthers
    }

    /// What the scanner is asked for beside iBeacons.
    var patterns: [BeaconPacketPattern] { resolver.patterns }

    mutating func heard(
        _ report: AdvertisingReport, data: Span<UInt8>, by receiver: Receiver, at now: MonotonicInstant
    ) {
        var telemetry: BeaconTelemetry?
        let beacon = decoder.sighting(in: data, of: report, by: receiver, at: now) { telemetry = $0 }
        let sender = resolver.sender(of: report, data: data, by: receiver, at: now)
        let named = resolver.frame(in: data, of: report, by: receiver)
        resolver.telemetry(in: data, of: report, by: receiver, sender: sender, frame: named, at: now) {
            if telemetry == nil { telemetry = $0 }
        }
        let region = named ?? sender.flatMap { resolver.alias(of: $0) } ?? sender
        guard beacon != nil || region != nil || includesOthers else { return }
        let frame = beacon == nil ? IdentityFrame(advertisingData: data) : nil
        let subject = beacon.map { .beacon($0.beacon) } ?? frame.map { .frame($0) } ?? Subject.other(report.address)
        var row = rows[subject] ?? Row(firstHeard: now, lastHeard: now)
        row.measuredPower = beacon?.measuredPower ?? frame?.measuredPower
        row.beacon = region?.beacon ?? row.beacon
        row.telemetry = telemetry ?? row.telemetry
        row.reports += 1
        row.lastHeard = now
        if let dBm = report.rssi?.dBm {
            row.rssi = row.rssi.map { $0 + (Double(dBm) - $0) * Self.smoothing } ?? Double(dBm)
        }
        if beacon == nil, let name = Self.localName(in: data) { row.name = name }
        rows[subject] = row
        if rows.count > Self.mostRows, let oldest = rows.min(by: { $0.value.lastHeard < $1.value.lastHeard }) {
            rows[oldest.key] = nil
        }
    }

    private static func localName(in data: Span<UInt8>) -> String? {
        var name: String?
        AdvertisingData.forEachStructure(in: data) { type, content in
            guard AdvertisingData.localNames.contains(type) else { return true }
            var bytes: [UInt8] = []
            for index in 0..<content.count { bytes.append(content[index]) }
            name = String(decoding: bytes, as: UTF8.self)
            return false
        }
        return name
    }

    /// Frames that look like an iBeacon or telemetry and are neither.
    var malformed: MalformedCounters { decoder.malformed }

    /// The rows, strongest first.
    private var sorted: [(Subject, Row)] {
        rows.sorted { ($0.value.rssi ?? -200) > ($1.value.rssi ?? -200) }.map { ($0.key, $0.value) }
    }

    /// The table as text.
    func text(at now: MonotonicInstant) -> String {
        let lines = sorted.map { subject, row -> [String] in
            let strength = row.rssi.map { "\(Int64(saturating: $0))" } ?? ""
            let distance = metres(row).map { $0 + " m" } ?? ""
            let interval = interval(row).map { "\(Int64(saturating: $0 * 1000)) ms" } ?? ""
            let age = "\(Int64(saturating: row.lastHeard.duration(to: now).inSeconds)) s"
            let names = names(subject, row).joined(separator: ", ")
            let battery = row.telemetry.map { "\($0.battery)" } ?? ""
            return [title(subject, row), strength, distance, interval, "\(row.reports)", age, battery, names]
        }
        return Terminal.table(
            ["BEACON", "RSSI", "DISTANCE", "INTERVAL", "REPORTS", "SEEN", "BATTERY", "REGION"], lines)
    }

    /// One JSON object for each row that was heard after `since`.
    func json(after since: MonotonicInstant, at now: MonotonicInstant) -> [String] {
        sorted.filter { $0.1.lastHeard > since }.map { subject, row in
            var members: [String: JSONValue] = [
                "reports": .integer(Int64(row.reports)), "regions": .array(names(subject, row).map { .string($0) }),
                "age_ms": .integer(row.lastHeard.duration(to: now).nanoseconds / 1_000_000),
            ]
            switch subject {
            case .beacon(let beacon):
                members["uuid"] = .string("\(beacon.uuid)")
                members["major"] = .integer(Int64(beacon.major))
                members["minor"] = .integer(Int64(beacon.minor))
            case .frame(let frame): members["identity"] = .string(frame.description)
            case .other(let address):
                members["address"] = .string("\(address)")
                members["kind"] = .string(address.kind)
                if let identity = address.identity { members["identity"] = .string(identity.text) }
                if !row.name.isEmpty { members["name"] = .string(row.name) }
            }
            if let rssi = row.rssi { members["rssi"] = .integer(Int64(saturating: rssi)) }
            if let power = row.measuredPower { members["measuredPower"] = .integer(Int64(power.dBm)) }
            if let telemetry = row.telemetry {
                members["battery"] = .integer(Int64(telemetry.battery.percent))
                if let voltage = telemetry.battery.millivolts { members["battery_mV"] = .integer(Int64(voltage)) }
                if let temperature = telemetry.temperature {
                    members["temperature"] = .plain((Double(temperature) * 10).rounded() / 10)
                }
            }
            if let interval = interval(row) { members["interval_ms"] = .integer(Int64(saturating: interval * 1000)) }
            if let centimetres = centimetres(row) { members["distance_cm"] = .integer(centimetres) }
            return JSONValue.object(members).text
        }
    }

    private func title(_ subject: Subject, _ row: Row) -> String {
        switch subject {
        case .beacon(let beacon): "\(beacon)"
        case .frame(let frame): frame.description
        case .other(let address):
            (address.identity?.text ?? "\(address) (\(address.kind))") + (row.name.isEmpty ? "" : " \(row.name)")
        }
    }

    private func names(_ subject: Subject, _ row: Row) -> [String] {
        var beacons = [row.beacon].compactMap(\.self)
        if case .beacon(let beacon) = subject { beacons.append(beacon) }
        var names: [String] = []
        for beacon in beacons { index.forEachMatch(of: beacon) { names.append(regionNames[Int($0)]) } }
        return names
    }

    /// Mean seconds between two reports.
    private func interval(_ row: Row) -> Double? {
        guard row.reports > 1 else { return nil }
        return row.firstHeard.duration(to: row.lastHeard).inSeconds / Double(row.reports - 1)
    }

    private func centimetres(_ row: Row) -> Int64? {
        guard let power = row.measuredPower, let dBm = row.rssi,
            let rssi = RSSI(reported: Int8(clamping: Int64(saturating: dBm))),
            let metres = distance(rssi: rssi, measuredPower: power), metres < 10_000
        else { return nil }
        return Int64(saturating: metres * 100)
    }

    private func metres(_ row: Row) -> String? {
        centimetres(row).map { "\($0 / 100).\($0 / 10 % 10)" }
    }
}
