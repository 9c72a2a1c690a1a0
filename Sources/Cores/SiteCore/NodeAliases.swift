package import Beacon
import SiteProtocol

/// The ids under which ESPresense nodes publish beacons: ESPresense's settings of a beacon may give it an id other than its own, such as
/// `keys:jane`.
///
/// It also counts what nodes publish under ids that no settings name.
package struct NodeAliases: Sendable {
    /// Largest number of beacons with an alias: any client may write such settings.
    static let most = 2000
    /// Largest number of ids that are named.
    package static let mostNamed = 20

    private var aliases: [BeaconID: String] = [:]
    private var beacons: [String: Set<BeaconID>] = [:]
    /// Messages under an id whose beacon is unknown.
    package private(set) var unknown: UInt64 = 0
    /// The first of these ids.
    package private(set) var unknownIDs: [String] = []

    /// A connection was made: the settings that the broker retains arrive.
    mutating func begin() { (aliases, beacons) = ([:], [:]) }

    /// The settings of a beacon arrived.
    ///
    /// - Parameter alias: nil: it has its own id.
    mutating func set(_ alias: String?, of beacon: BeaconID) {
        if let old = aliases.removeValue(forKey: beacon) {
            beacons[old]?.remove(beacon)
            if beacons[old]?.isEmpty == true { beacons[old] = nil }
        }
        guard let alias, aliases.count < Self.most else { return }
        aliases[beacon] = alias
        beacons[alias, default: []].insert(beacon)
        unknownIDs.removeAll { $0 == alias }
    }

    /// The node whose own beacon is published under an id, `node:kitchen`, and that beacon; nil if the id is that of anything else.
    func node(of alias: String) -> (name: String, beacon: BeaconID)? {
        guard alias.hasPrefix(Self.prefixOfNodes), let known = beacons[alias], known.count == 1,
            let beacon = known.first, beacon.uuid == Self.uuidOfNodes
        else { return nil }
        return (String(alias.dropFirst(Self.prefixOfNodes.count)), beacon)
    }

    private static let prefixOfNodes = "node:"
    /// Of the iBeacon that each node sends each one to two seconds: E5CA1ADE-F007-BA11-0000-000000000000.
    private static let uuidOfNodes = BeaconUUID(high: 0xe5ca_1ade_f007_ba11, low: 0)

    /// The beacon that nodes publish under an id; nil if none is known, or several: which of them was heard cannot be told.
    package func knownBeacon(of alias: String) -> BeaconID? {
        if let known = beacons[alias], known.count == 1 { return known.first }
        return nil
    }

    /// The same for a message that arrived. It is counted where the beacon is unknown.
    mutating func beacon(of alias: String) -> BeaconID? {
        if let known = knownBeacon(of: alias) { return known }
        unknown += 1
        if unknownIDs.count < Self.mostNamed, !unknownIDs.contains(alias) { unknownIDs.append(alias) }
        return nil
    }
}
