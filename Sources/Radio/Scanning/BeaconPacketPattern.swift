import Beacon

/// How the content of an AD structure begins in packets that the gateway reads. Advertisement monitors are set with
/// such patterns.
package struct BeaconPacketPattern: Hashable, Sendable {
    /// The AD type.
    package let type: UInt8
    /// Where in the content of the structure `start` begins, in bytes.
    package let offset: UInt8
    package let start: [UInt8]

    package init(type: UInt8, offset: UInt8 = 0, start: [UInt8]) {
        self.type = type
        self.offset = offset
        self.start = start
    }

    /// Whether a structure of the advertising data has it, as the kernel and controllers match patterns.
    package func begins(aStructureOf data: Span<UInt8>) -> Bool {
        var isFound = false
        AdvertisingData.forEachStructure(in: data) { type, content in
            isFound =
                type == self.type && content.count >= Int(offset) + start.count
                && start.indices.allSatisfy { content[Int(offset) + $0] == start[$0] }
            return !isFound
        }
        return isFound
    }

    /// What packets of a pattern are for.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case iBeacons, identities, telemetry, others

        /// Kinds in words, such as `named phones, addresses and frames, and batteries`.
        package static func text(_ kinds: [Kind]) -> String {
            kinds.map { kind in
                switch kind {
                case .iBeacons: "iBeacons"
                case .identities: "named phones, addresses and frames"
                case .telemetry: "batteries"
                case .others: "other devices, which the Bluetooth proxy hears"
                }
            }.joined(separator: ", and ")
        }
    }

    /// All patterns, the most important first: of a controller with little room, the last give way.
    ///
    /// - Parameters:
    ///   - identities: Those of `IdentityResolver.patterns`.
    ///   - isAll: Every packet is wanted, as far as patterns can say that.
    package static func inOrder(identities: [BeaconPacketPattern], isAll: Bool = false) -> [BeaconPacketPattern] {
        let own = [.iBeacon] + identities + telemetry.filter { !identities.contains($0) }
        return isAll ? own + everything : own
    }

    /// The kinds of these patterns, the most important first.
    ///
    /// - Parameter patterns: A part of the result of `inOrder`.
    package static func kinds(of patterns: some Sequence<BeaconPacketPattern>) -> [Kind] {
        let kinds = Set(
            patterns.map { pattern in
                if everything.contains(pattern) { return Kind.others }
                return pattern == .iBeacon ? .iBeacons : telemetry.contains(pattern) ? .telemetry : .identities
            })
        return Kind.allCases.filter(kinds.contains)
    }

    /// Any content of the AD types of which nearly every packet has at least one, the most frequent first: service data, data of a
    /// manufacturer, flags, services and names.
    package static let everything: [BeaconPacketPattern] = [
        AdvertisingData.serviceData16, AdvertisingData.manufacturerSpecificData, 0x01, 0x03, 0x09, 0x02, 0x08, 0x07,
        0x21,
    ].map { BeaconPacketPattern(type: $0, start: []) }

    /// Manufacturer specific data that begins as every iBeacon does.
    package static let iBeacon = BeaconPacketPattern(
        type: AdvertisingData.manufacturerSpecificData, start: IBeacon.prefix.indices.map { IBeacon.prefix[$0] })

    /// The service data of each telemetry format.
    package static let telemetry = Telemetry.Format.allCases.map(serviceData)

    /// The service data of Eddystone, of which also a region can name a frame.
    package static let eddystone = serviceData(.eddystone)

    private static func serviceData(_ format: Telemetry.Format) -> BeaconPacketPattern {
        BeaconPacketPattern(
            type: AdvertisingData.serviceData16, start: [UInt8(format.rawValue & 0xff), UInt8(format.rawValue >> 8)])
    }
}
