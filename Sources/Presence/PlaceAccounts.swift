import Regions

/// How many beacons may be remembered, and on whose account: so that whoever invents identities fills what is his, and
/// keeps nobody else out.
///
/// * A beacon that some region names exactly is on an account of its own. It has as many places as there are such
///   regions, so each named beacon finds one.
/// * All others are strangers. Half of their places is divided among the trackers with wildcard patterns, and of a tracker
///   among its patterns. The other half is for whoever comes first.
///
/// A place pays for eight regions. A beacon that belongs to more takes more places, which bounds the memberships.
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
    /// Regions that one place pays for.
    static let regionsInPlace = 8

    /// That of the named, the common one, and one for each wildcard.
    private var accounts: [Account]
    /// By position of the region.
    private var accountOfRegion: [Int32] = []

    /// - Parameter places: Of strangers; the named have as many at least.
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

    /// Takes the places of a beacon that belongs to these regions.
    ///
    /// - Returns: false if they are too few. Then nothing was taken.
    mutating func take(for regions: [Int32]) -> Bool {
        let count = Self.places(for: regions)
        guard let account = account(of: regions, with: count) else { return false }
        accounts[account].taken += count
        return true
    }

    /// Takes the places of a beacon that keeps them, though they be too few.
    mutating func keep(_ regions: [Int32]) {
        let count = Self.places(for: regions)
        let account = account(of: regions, with: count) ?? (isNamed(regions) ? Self.named : Self.common)
        accounts[account].taken += count
    }

    /// Gives all places back.
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

    private static func places(for regions: [Int32]) -> Int {
        max(1, (regions.count + regionsInPlace - 1) / regionsInPlace)
    }
}
