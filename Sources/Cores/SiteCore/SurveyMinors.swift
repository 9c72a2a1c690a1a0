package import Beacon
import Identities
package import SiteProtocol

/// The beacon that each gateway of a site is asked to send, so that the gateways hear each other.
///
/// A gateway keeps its minor while it is known: over a restart of the service, and when another service of the site takes over.
package struct SurveyMinors: Hashable, Sendable {
    /// The UUID of the beacons of a site, in all versions of the program.
    package let uuid: BeaconUUID
    /// The minor of each gateway, 1 to 65,535; at most `SurveyBeacons.mostGateways`, no two the same.
    package private(set) var minors: [String: UInt16] = [:] {
        didSet { beacons = minors.isEmpty ? nil : SurveyBeacons(uuid: uuid, minors: minors) }
    }
    /// What the list of tags says; nil while no gateway is asked. Each message of a gateway is compared with it.
    package private(set) var beacons: SurveyBeacons?

    /// - Parameter site: The name of the site.
    package init(site: String) { uuid = derivedUUID(of: "survey:\(site)") }

    /// What the list of another service says, as a replay takes it.
    init(_ beacons: SurveyBeacons) { (uuid, minors, self.beacons) = (beacons.uuid, beacons.minors, beacons) }

    /// What was stored.
    mutating func restore(_ stored: [String: UInt16]) {
        if let beacons = SurveyBeacons(uuid: uuid, minors: stored) { minors = beacons.minors }
    }

    // MARK: - The gateways of this service

    /// Gives each of these gateways that has none the smallest free minor.
    ///
    /// - Parameters:
    ///   - gateways: Those that count, in an order that does not change.
    ///   - isKnown: Whether a gateway is known now. If there is no place, one that is not gives way.
    /// - Returns: The gateways for which there is no place.
    mutating func give(to gateways: [String], isKnown: (String) -> Bool) -> [String] {
        let new = gateways.filter { minors[$0] == nil }
        guard !new.isEmpty else { return [] }
        var idle = minors.keys.filter { !isKnown($0) }.sorted(by: >)
        for (index, gateway) in new.enumerated() {
            if minors.count >= SurveyBeacons.mostGateways {
                guard let other = idle.popLast() else { return Array(new[index...]) }
                minors[other] = nil
            }
            minors[gateway] = smallestFree
        }
        return []
    }

    private var smallestFree: UInt16 {
        let taken = Set(minors.values)
        return (1...).first { !taken.contains($0) } ?? 0
    }

    /// A gateway is gone, and its minor is free.
    mutating func forget(_ gateway: String) { minors[gateway] = nil }

    // MARK: - The lists of other services

    /// Takes what the list of another service says.
    ///
    /// - Parameter isProved: Whether that service decides. Else the list may be forged or old: it adds gateways that have no minor here, where
    ///   theirs is free.
    mutating func take(_ beacons: SurveyBeacons, isProved: Bool) {
        guard beacons.uuid == uuid else { return }
        let listed = beacons.minors.filter { FeedDecoder.isName($0.key) }
        guard !isProved else { return minors = listed }
        var taken = Set(minors.values)
        for (gateway, minor) in listed.sorted(by: { $0.value < $1.value }) where minors[gateway] == nil {
            guard minors.count < SurveyBeacons.mostGateways, taken.insert(minor).inserted else { continue }
            minors[gateway] = minor
        }
    }
}
