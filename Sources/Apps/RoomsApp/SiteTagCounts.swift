import Health

/// How many tags of a site are at home, and those of which something is to be said.
struct SiteTagCounts {
    var all = 0
    var home = 0
    /// The names of those that no gateway has ever heard.
    var unheard: [String] = []
    /// Those whose battery is low, with the level in per cent.
    var lowBatteries: [(name: String, percent: UInt8)] = []

    /// The emptiest come first.
    ///
    /// - Parameter most: The most tags that it names.
    func batteryFinding(named most: Int) -> Finding? {
        let sorted = lowBatteries.sorted { ($0.percent, $0.name) < ($1.percent, $1.name) }
        return Finding(lowBatteries: sorted.map { "\($0.name) \($0.percent) %" }, named: most)
    }
}
