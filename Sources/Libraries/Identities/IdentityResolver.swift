package import Base
package import Beacon

/// Makes sightings of what is no iBeacon: of addresses and frames that regions name, and of devices whose key is known.
///
/// It stands between the parser and presence. Without identities and keys it is off, and reports cost nothing more.
package struct IdentityResolver {
    /// More keys are not looked for.
    package static let mostKeys = 250
    /// More addresses are not looked for.
    package static let mostAddresses = AddressCache.mostOwners - 2 * mostKeys
    /// At one metre: an address tells no power. A phone sends with about this strength.
    package static let assumedPower = MeasuredPower(dBm: -59)

    private struct Key {
        var phone: PhoneKey
        /// Whether the octets are in the other order than written; nil until the device was heard under two addresses.
        var isReversed: Bool?
        /// The evidence for either order.
        var evidence: [KeyEvidence]
        /// The beacon of either order.
        var beacons: [BeaconID]
    }

    private var identities: [Identity] = []
    /// The beacons of addresses. An index of `AddressCache` counts them, and then the keys twice: as written, reversed.
    private var addressed: [BeaconID] = []
    private var indices: [UInt64: Int] = [:]
    /// The derived UUIDs of frames.
    private var framed: [Identity: BeaconUUID] = [:]
    /// Of each Eddystone-UID whose namespace is to be found, too: the UUID of that.
    private var spaces: [BeaconUUID: BeaconUUID] = [:]
    private var keys: [Key] = []
    /// UUIDs that regions and tags name beside that of `Key.beacons`.
    private var aliases: [BeaconUUID: BeaconUUID] = [:]
    private var hash: (any AddressHash)?
    private var cache = AddressCache()
    private var strangers = Strangers()
    /// Join telemetry to Eddystone-UIDs and to AltBeacons; nil while no such frame is to be found. A device may send both.
    private var joiners: (eddystone: TelemetryJoiner, altBeacon: TelemetryJoiner)?

    package init() {}

    /// Whether anything is to be found. It is stored, because it is asked for each report.
    package private(set) var isOn = false
    /// Whether an address or a key is to be found.
    package var hearsSenders: Bool { !addressed.isEmpty || !keys.isEmpty }
    /// Whether an Eddystone-UID is to be found.
    package var hearsEddystones: Bool { framed.keys.contains { $0.kind == .eddystone } }
    /// Whether an AltBeacon is to be found.
    package var hearsAltBeacons: Bool { framed.keys.contains { $0.kind == .altbeacon } }

    /// Sets the identities that regions name, at most `mostAddresses` of them addresses.
    package mutating func setIdentities(_ identities: [Identity]) {
        guard identities != self.identities else { return }
        self.identities = identities
        (addressed, indices, framed) = ([], [:], [:])
        for identity in identities {
            switch identity {
            case .address(let value):
                guard indices[value] == nil, addressed.count < Self.mostAddresses else { continue }
                indices[value] = addressed.count
                addressed.append(BeaconID(uuid: identity.uuid, major: 0, minor: 0))
            case .eddystone, .eddystoneSpace, .altBeacon: framed[identity] = identity.uuid
            }
        }
        spaces = [:]
        for (identity, uuid) in framed { spaces[uuid] = identity.space.flatMap { framed[$0] } }
        if hearsSenders { cache.clear() }
        if framed.isEmpty {
            joiners = nil
        } else if joiners == nil {
            joiners = (TelemetryJoiner(), TelemetryJoiner())
        }
        isOn = hearsSenders || !framed.isEmpty
    }

    /// Sets the keys. What was learned of a key that stays is kept.
    ///
    /// - Parameters:
    ///   - keys: At most `mostKeys`.
    ///   - hash: `ah` of these keys, by their index.
    package mutating func setKeys(_ keys: [PhoneKey], hash: some AddressHash) {
        let known = Dictionary(self.keys.map { ($0.phone.key.unordered, $0) }) { first, _ in first }
        self.keys = keys.prefix(Self.mostKeys).map { phone in
            var key = Key(
                phone: phone, isReversed: phone.isOrdered ? false : nil, evidence: [.init(), .init()],
                beacons: [phone.uuid, phone.otherUUID].map { BeaconID(uuid: $0, major: 0, minor: 0) })
            if let old = known[phone.key.unordered] {
                let isTurned = old.phone.key != phone.key
                key.evidence = isTurned ? old.evidence.reversed() : old.evidence
                key.isReversed = key.isReversed ?? old.isReversed.map { $0 != isTurned }
            }
            return key
        }
        self.hash = hash
        if hearsSenders { cache.clear() }
        if !keys.isEmpty { strangers.prepare() }
        isOn = hearsSenders || !framed.isEmpty
    }

    /// Sets which UUIDs of the keys regions and tags name. A key whose order was not known has two, and a region that was
    /// made with the other one hears the device, too.
    package mutating func setNamed(_ isNamed: (BeaconUUID) -> Bool) {
        aliases = [:]
        for key in keys {
            let (uuid, other) = (key.beacons[0].uuid, key.beacons[1].uuid)
            if isNamed(other) { aliases[uuid] = other }
            if isNamed(uuid) { aliases[other] = uuid }
        }
    }

    /// The sighting under the other UUID of the same key, or under that of the namespace, if a region or tag names that.
    @inline(__always)
    package func alias(of sighting: Sighting) -> Sighting? {
        guard !aliases.isEmpty || !spaces.isEmpty,
            let uuid = aliases[sighting.beacon.uuid] ?? spaces[sighting.beacon.uuid]
        else { return nil }
        return Sighting(
            beacon: BeaconID(uuid: uuid, major: 0, minor: 0), measuredPower: sighting.measuredPower,
            rssi: sighting.rssi, receiver: sighting.receiver)
    }

    /// The UUIDs under which devices with a key are heard.
    package var phones: Set<BeaconUUID> { Set(keys.flatMap { $0.beacons.map(\.uuid) }) }

    /// What was learned of the keys, in their order.
    package var hearings: [PhoneHearing] {
        keys.map { key in
            PhoneHearing(
                phone: key.isReversed.map { key.phone.ordered(isReversed: $0) } ?? key.phone,
                lastHeard: key.evidence.compactMap(\.lastHeard).max())
        }
    }

    /// The sighting of the sender, if its address is an identity or fits a key.
    package mutating func sender(
        of report: AdvertisingReport, data: Span<UInt8>, by receiver: Receiver, at now: MonotonicInstant
    ) -> Sighting? {
        guard hearsSenders else { return nil }
        let owner: Int
        if let known = cache.owner(of: report.address) {
            guard let known else {
                if report.address.value == strangers.watched {
                    strangers.sent(PacketShape(advertisingData: data), at: now)
                }
                return nil
            }
            owner = known
        } else {
            let found = search(report.address)
            cache.insert(report.address, owner: found)
            guard let found else {
                if !keys.isEmpty, ResolvableAddress(report.address) != nil {
                    strangers.appeared(report.address.value, PacketShape(advertisingData: data), at: now)
                }
                return nil
            }
            owner = found
        }
        guard let beacon = beacon(owner, report.address, data, at: now) else { return nil }
        return Sighting(beacon: beacon, measuredPower: Self.assumedPower, rssi: report.rssi, receiver: receiver)
    }

    /// The sighting of the frame, if a region names it.
    ///
    /// It changes nothing. Were it not mutating, the caller in another module would copy all tables for each report.
    package mutating func frame(in data: Span<UInt8>, of report: AdvertisingReport, by receiver: Receiver) -> Sighting?
    {
        guard !framed.isEmpty, let frame = IdentityFrame(advertisingData: data),
            let uuid = framed[frame.identity] ?? frame.identity.space.flatMap({ framed[$0] })
        else { return nil }
        return Sighting(
            beacon: BeaconID(uuid: uuid, major: frame.major, minor: frame.minor), measuredPower: frame.measuredPower,
            rssi: report.rssi, receiver: receiver)
    }

    /// Whether a frame is to be found.
    var hearsFrames: Bool { joiners != nil }

    /// The telemetry that waits for this frame.
    mutating func joined(
        to beacon: BeaconID, _ data: Span<UInt8>, of report: AdvertisingReport, by receiver: Receiver,
        at now: MonotonicInstant
    ) -> Telemetry? {
        if IdentityFrame(advertisingData: data)?.identity.kind == .altbeacon {
            return joiners?.altBeacon.heard(beacon, from: report.address, by: receiver, at: now)
        }
        return joiners?.eddystone.heard(beacon, from: report.address, by: receiver, at: now)
    }

    /// Keeps telemetry for the next frame of its sender.
    mutating func keep(
        _ telemetry: Telemetry, of report: AdvertisingReport, by receiver: Receiver, at now: MonotonicInstant
    ) {
        joiners?.eddystone.heard(telemetry, from: report.address, by: receiver, at: now)
        joiners?.altBeacon.heard(telemetry, from: report.address, by: receiver, at: now)
    }

    private func search(_ address: DeviceAddress) -> Int? {
        guard let address = ResolvableAddress(address) else {
            // An address that changes is no identity.
            return address.identity.flatMap { _ in indices[address.value] }
        }
        guard let hash else { return nil }
        for index in keys.indices {
            let order = keys[index].isReversed
            if order != true, hash.hash(of: address.random, key: index, isReversed: false) == address.hash {
                return addressed.count + 2 * index
            }
            if order != false, hash.hash(of: address.random, key: index, isReversed: true) == address.hash {
                return addressed.count + 2 * index + 1
            }
        }
        return nil
    }

    /// The beacon of an owner, unless the evidence for a key is too weak.
    private mutating func beacon(
        _ owner: Int, _ address: DeviceAddress, _ data: Span<UInt8>, at now: MonotonicInstant
    ) -> BeaconID? {
        guard owner >= addressed.count else { return addressed[owner] }
        let (index, order) = (owner - addressed.count).quotientAndRemainder(dividingBy: 2)
        // The other order was right.
        if let isReversed = keys[index].isReversed, isReversed != (order == 1) { return nil }
        let shape = PacketShape(advertisingData: data)
        let isAccepted =
            keys[index].evidence[order].accepts(address.value, shape, at: now)
            ?? keys[index].evidence[order].weighs(
                address.value, shape, at: now, among: strangers, tolerance: tolerance(at: now))
        guard isAccepted else { return nil }
        if keys[index].evidence[order].isKnown { keys[index].isReversed = order == 1 }
        return keys[index].beacons[order]
    }
}

extension IdentityResolver {
    /// Chance matches in a year that are accepted for all keys together: one for the eight keys of a home, twelve for the 64 of
    /// an office, and never more. A part of it stays in reserve, because the share of strangers is an estimate.
    private var toleratedPerYear: Double { 0.9 * min(12, 1 + max(0, Double(keys.count - 8)) * 11 / 56) }

    /// The share of chance matches that may be taken for a device with a key.
    private func tolerance(at now: MonotonicInstant) -> Double {
        let matchesPerYear = strangers.addressesPerDay(at: now) * 365 * Double(keys.count) / Double(1 << 24)
        return matchesPerYear > 0 ? toleratedPerYear / matchesPerYear : 1
    }
}
