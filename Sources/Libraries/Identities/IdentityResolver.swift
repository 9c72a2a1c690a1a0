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
        let beacon: BeaconID
        /// Whether the octets are in the other order than written; nil until the device was heard under two addresses.
        var isReversed: Bool?
        /// The evidence for either order.
        var evidence: [KeyEvidence]
    }

    private var identities: [Identity] = []
    /// The beacons of addresses. An index of `AddressCache` counts them, and then the keys twice: as written, reversed.
    private var addressed: [BeaconID] = []
    private var indices: [UInt64: Int] = [:]
    /// The derived UUIDs of frames.
    private var framed: [Identity: BeaconUUID] = [:]
    private var keys: [Key] = []
    private var hash: (any AddressHash)?
    private var cache = AddressCache()

    package init() {}

    /// Whether anything is to be found.
    package var isOn: Bool { hearsSenders || !framed.isEmpty }
    /// Whether an address or a key is to be found.
    package var hearsSenders: Bool { !addressed.isEmpty || !keys.isEmpty }
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
            case .eddystone, .altBeacon: framed[identity] = identity.uuid
            }
        }
        if hearsSenders { cache.clear() }
    }

    /// Sets the keys. What was learned of a key that stays is kept.
    ///
    /// - Parameters:
    ///   - keys: At most `mostKeys`.
    ///   - hash: `ah` of these keys, by their index.
    package mutating func setKeys(_ keys: [IdentityKey], hash: some AddressHash) {
        let known = Dictionary(self.keys.map { ($0.beacon.uuid, $0) }) { first, _ in first }
        self.keys = keys.prefix(Self.mostKeys).map { key in
            known[key.uuid]
                ?? Key(
                    beacon: BeaconID(uuid: key.uuid, major: 0, minor: 0), isReversed: nil,
                    evidence: [KeyEvidence(), KeyEvidence()])
        }
        self.hash = hash
        if hearsSenders { cache.clear() }
    }

    /// The sighting of the sender, if its address is an identity or fits a key.
    package mutating func sender(
        of report: AdvertisingReport, data: Span<UInt8>, by receiver: Receiver, at now: MonotonicInstant
    ) -> Sighting? {
        guard hearsSenders else { return nil }
        let owner: Int
        if let known = cache.owner(of: report.address) {
            guard let known else { return nil }
            owner = known
        } else {
            let found = search(report.address)
            cache.insert(report.address, owner: found)
            guard let found else { return nil }
            owner = found
        }
        guard let beacon = beacon(owner, report.address, data, at: now) else { return nil }
        return Sighting(beacon: beacon, measuredPower: Self.assumedPower, rssi: report.rssi, receiver: receiver)
    }

    /// The sighting of the frame, if a region names it.
    package func frame(in data: Span<UInt8>, of report: AdvertisingReport, by receiver: Receiver) -> Sighting? {
        guard !framed.isEmpty, let frame = IdentityFrame(advertisingData: data), let uuid = framed[frame.identity]
        else { return nil }
        return Sighting(
            beacon: BeaconID(uuid: uuid, major: frame.major, minor: frame.minor), measuredPower: frame.measuredPower,
            rssi: report.rssi, receiver: receiver)
    }

    private func search(_ address: DeviceAddress) -> Int? {
        guard let address = ResolvableAddress(address) else {
            // An address that changes is no identity.
            return address.identity.flatMap { _ in indices[address.value] }
        }
        guard let hash else { return nil }
        for (index, key) in keys.enumerated() {
            for isReversed in [false, true] where key.isReversed ?? isReversed == isReversed {
                if hash.hash(of: address.random, key: index, isReversed: isReversed) == address.hash {
                    return addressed.count + 2 * index + (isReversed ? 1 : 0)
                }
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
        guard keys[index].evidence[order].accepts(address, shape, at: now) else { return nil }
        if keys[index].evidence[order].isKnown { keys[index].isReversed = order == 1 }
        return keys[index].beacon
    }
}
