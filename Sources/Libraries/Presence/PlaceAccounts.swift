import Regions

/// Limits how many beacons are remembered. Places are divided into accounts, so that a sender that invents identities
/// fills only the places of the region that it matches.
///
/// * Beacons that some region names exactly have one account, with at least as many places as there are such regions.
///   Each named beacon finds a place.
/// * All other beacons are strangers. Half of their places is divided equally among the trackers with wildcard
///   patterns, and the share of a tracker equally among its patterns. The other half is common; the first beacons take
///   it.
///
/// A place covers eight regions. A beacon that belongs to more takes more places, which bounds the memberships.
struct PlaceAccounts: Sendable {
    private struct Account: Sendable {
        let places: Int
        var taken = 0

        func hasRoom(for count: Int) -> Bool { taken + count <= places }
    }

    private struct Wildcard: Hashable {
        let tracker: Int
        let pattern: BeaconPattern
    }

    private static let named = 0
    private static let common = 1
    /// Regions that one place covers.
    static let regionsInPlace = 8

    /// The account of the named beacons, the common one, and one for each wildcard pattern.
    private var accounts: [Account]
    /// For each region, its account.
    private var accountOfRegion: [Int32] = []

    /// - Parameter places: The places of strangers. Named beacons have at least as many.
    init(_ regions: [MonitoredRegion], places: Int) {
        var wildcards: [Wildcard: Int32] = [:]
        var order: [Wildcard] = []
        var patterns: [Int: Int] = [:]
        accountOfRegion.reserveCapacity(regions.count)
        for region in regions {
            guard region.pattern.major == nil || region.pattern.minor == nil else {
                accountOfRegion.append(Int32(Self.named))
                continue
            }
            let wildcard = Wildcard(tracker: region.key.tracker, pattern: region.pattern)
            let account = wildcards[wildcard] ?? Int32(truncatingIfNeeded: Self.common + 1 + order.count)
            if wildcards.updateValue(account, forKey: wildcard) == nil {
                order.append(wildcard)
                patterns[wildcard.tracker, default: 0] += 1
            }
            accountOfRegion.append(account)
        }
        let divided = places / 2
        let named = accountOfRegion.count { $0 == Self.named }
        accounts = [Account(places: max(places, named)), Account(places: places - divided)]
        for wildcard in order {
            let share = divided / patterns.count / (patterns[wildcard.tracker] ?? 1)
            accounts.append(Account(places: max(1, share)))
        }
    }

    /// Reserves the places of a beacon that belongs to these regions.
    ///
    /// - Returns: Whether there are enough places. If not, none is reserved.
    mutating func reserve(for regions: [Int32]) -> Bool {
        let count = Self.places(for: regions)
        guard let account = account(of: regions, with: count) else { return false }
        accounts[account].taken += count
        return true
    }

    /// Reserves the places of a beacon that must not be forgotten, even if there are too few.
    mutating func keep(_ regions: [Int32]) {
        let count = Self.places(for: regions)
        let account = account(of: regions, with: count) ?? (isNamed(regions) ? Self.named : Self.common)
        accounts[account].taken += count
    }

    /// Frees all places.
    mutating func clear() {
        for account in accounts.indices { accounts[account].taken = 0 }
    }

    /// Whether one of the regions names its beacon exactly.
    func isNamed(_ regions: [Int32]) -> Bool {
        regions.contains { accountOfRegion[Int($0)] == Self.named }
    }

    private func account(of regions: [Int32], with count: Int) -> Int? {
        guard !isNamed(regions) else { return accounts[Self.named].hasRoom(for: count) ? Self.named : nil }
        for region in regions {
            let account = Int(accountOfRegion[Int(region)])
            if accounts[account].hasRoom(for: count) { return account }
        }
        return accounts[Self.common].hasRoom(for: count) ? Self.common : nil
    }

    /// Whether any account has room for a beacon of so many regions. If none has, there is no room for it.
    func mayHaveRoom(forRegions count: Int) -> Bool {
        accounts.contains { $0.hasRoom(for: Self.places(forCount: count)) }
    }

    private static func places(for regions: [Int32]) -> Int { places(forCount: regions.count) }

    private static func places(forCount count: Int) -> Int { max(1, (count + regionsInPlace - 1) / regionsInPlace) }
}
