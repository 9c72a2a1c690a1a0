package import Base

/// What gateways hear of each other's beacons, and which of them are therefore not where they were.
///
/// Both are in places that do not change, so that a level between them has a mean that holds for weeks, and a deviation: people rest in
/// the way, doors close. If the levels to most of a gateway's neighbours are others at once, and theirs to each other are not, that
/// gateway was moved or covered. No decision about a tag takes part.
///
/// Memory: at most `mostPairs` pairs. `hear` takes constant time; the end of a block takes time proportional to the pairs and to the
/// suspects.
package struct LevelSurvey: Sendable {
    package static let mostGateways = 256
    package static let mostPairs = 8192
    /// Gateways that one block may show as changed. Each costs a look at all pairs, and where more have changed at once, nothing is left to
    /// compare with.
    package static let mostSuspects = 16

    private let tuning: LevelSurveyTuning
    private var names: [String] = []
    private var indices: [String: Int] = [:]
    private var pairs: [LevelPair] = []
    private var pairIndices: [Int: Int] = [:]
    private var courses: [PlaceCourse] = []
    private var blockEnd: MonotonicInstant?
    /// Readings of gateways and pairs that had no place.
    package private(set) var droppedReadings = 0

    package init(tuning: LevelSurveyTuning = LevelSurveyTuning()) { self.tuning = tuning }

    /// The gateways that were heard, or heard another one, in the order of their names.
    package var gateways: [String] { names.sorted() }

    // MARK: - What is heard

    /// A gateway heard the beacon of another.
    ///
    /// - Parameter level: dBm.
    package mutating func hear(sender: String, receiver: String, level: Float, at now: MonotonicInstant) {
        tick(at: now)
        guard sender != receiver, level.isFinite else { return }
        guard let sender = index(of: sender), let receiver = index(of: receiver) else { return droppedReadings += 1 }
        hear(sender: sender, receiver: receiver, level: level)
    }

    private mutating func hear(sender: Int, receiver: Int, level: Float) {
        let key = sender * Self.mostGateways + receiver
        if let pair = pairIndices[key] { return pairs[pair].hear(level) }
        guard pairs.count < Self.mostPairs else { return droppedReadings += 1 }
        pairIndices[key] = pairs.count
        pairs.append(LevelPair(sender: sender, receiver: receiver))
        pairs[pairs.count - 1].hear(level)
    }

    private mutating func index(of name: String) -> Int? {
        if let index = indices[name] { return index }
        guard names.count < Self.mostGateways else { return nil }
        indices[name] = names.count
        names.append(name)
        courses.append(PlaceCourse())
        return names.count - 1
    }

    /// Time passed. A block that has ended is compared with the references.
    package mutating func tick(at now: MonotonicInstant) {
        guard let end = blockEnd else { return blockEnd = now.advanced(by: tuning.block) }
        guard now >= end else { return }
        finishBlock(at: now)
        blockEnd = now.advanced(by: tuning.block)
    }

    // MARK: - What follows

    /// A gateway that is not where it was, or hears and is heard less there.
    package struct Change: Hashable, Sendable {
        package enum Kind: Hashable, Sendable { case moved, covered }

        package let gateway: String
        package let kind: Kind
        /// The end of the first block that showed it.
        package let since: MonotonicInstant
        /// Of how many neighbours so many hear it otherwise, or are heard so.
        package let deviating: Int
        package let neighbours: Int
        /// Median of the changes, dB.
        package let decibels: Float
    }

    /// The gateways that are not where they were, in the order of their names.
    package var changes: [Change] {
        zip(names, courses).compactMap { name, course in course.change(of: name) }.sorted { $0.gateway < $1.gateway }
    }

    /// How much more each gateway measures than the others with which links connect it, dB; only of those that hear others and are heard by them.
    ///
    /// Of two directions of a link the way is the same, so that they differ by what each sends and measures. The mean of a gateway's
    /// differences is therefore that of its measuring less that of its sending. Most of it is the measuring (`shareOfMeasuring`): radios
    /// send alike.
    package var offsets: [String: Float] {
        let links = differencesOfDirections()
        var offsets = names.map { _ in Float(0) }
        // Least squares, by relaxation: each is the mean of what its neighbours say.
        for _ in 0..<Self.relaxations {
            for gateway in offsets.indices where !links[gateway].isEmpty {
                let sum = links[gateway].reduce(0) { $0 + $1.difference + offsets[$1.other] }
                offsets[gateway] = sum / Float(links[gateway].count)
            }
        }
        let groups = connected(by: links)
        let known = Dictionary(grouping: offsets.indices.filter { !links[$0].isEmpty }) { groups[$0] }
        return known.values.reduce(into: [:]) { result, group in
            let mean = group.reduce(0) { $0 + offsets[$1] } / Float(group.count)
            for gateway in group { result[names[gateway]] = tuning.shareOfMeasuring * (offsets[gateway] - mean) }
        }
    }

    /// Gateways that are connected by links have the same number. Of two groups, such as gateways and nodes, nothing says which measures more.
    private func connected(by links: [[(other: Int, difference: Float)]]) -> [Int] {
        var groups = Array(links.indices)
        for first in links.indices where groups[first] == first {
            var waiting = [first]
            while let gateway = waiting.popLast() {
                for link in links[gateway] where groups[link.other] != first {
                    groups[link.other] = first
                    waiting.append(link.other)
                }
            }
        }
        return groups
    }

    private static let relaxations = 50

    /// The levels between gateways that are known, without those of some gateways.
    ///
    /// What a gateway sends more than others is the rest of the differences of which `offsets` are the part that it measures, with the
    /// other sign.
    package func levels(without left: Set<String> = []) -> SurveyedLevels {
        let offsets = offsets
        let share = (1 - tuning.shareOfMeasuring) / tuning.shareOfMeasuring
        let known = pairs.filter {
            $0.isReady(tuning) && !left.contains(names[$0.sender]) && !left.contains(names[$0.receiver])
        }
        return SurveyedLevels(
            pairs: known.map {
                SurveyedLevels.Pair(
                    sender: names[$0.sender], receiver: names[$0.receiver],
                    level: $0.mean + share * (offsets[names[$0.sender]] ?? 0))
            }, offsets: offsets)
    }

    /// For each gateway by how much more it hears each neighbour than that hears it, dB.
    private func differencesOfDirections() -> [[(other: Int, difference: Float)]] {
        var links = names.map { _ in [(other: Int, difference: Float)]() }
        for pair in pairs where pair.isReady(tuning) {
            guard let back = pairIndices[pair.receiver * Self.mostGateways + pair.sender], pairs[back].isReady(tuning)
            else { continue }
            links[pair.receiver].append((pair.sender, pair.mean - pairs[back].mean))
        }
        return links
    }

    /// A person says that a gateway is where it belongs: its levels are learned anew.
    package mutating func accept(gateway: String) {
        guard let index = indices[gateway] else { return }
        courses[index] = PlaceCourse()
        for pair in pairs.indices where pairs[pair].concerns(index) { pairs[pair].forget() }
    }

    /// A gateway is gone.
    package mutating func forget(gateway: String) {
        guard let index = indices[gateway] else { return }
        let kept = names.indices.filter { $0 != index }
        var moved = [Int](repeating: 0, count: names.count)
        for (new, old) in kept.enumerated() { moved[old] = new }
        pairs = pairs.filter { !$0.concerns(index) }.map { $0.renumbered(moved) }
        (names, courses) = (kept.map { names[$0] }, kept.map { courses[$0] })
        indices = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($0.element, $0.offset) })
        pairIndices = Dictionary(
            uniqueKeysWithValues: pairs.enumerated().map {
                ($0.element.sender * Self.mostGateways + $0.element.receiver, $0.offset)
            })
    }

    // MARK: - Blocks

    private mutating func finishBlock(at now: MonotonicInstant) {
        var (sends, receives) = (names.map { _ in false }, names.map { _ in false })
        for pair in pairs where pair.wasHeard { (sends[pair.sender], receives[pair.receiver]) = (true, true) }
        for index in pairs.indices {
            let (sender, receiver) = (pairs[index].sender, pairs[index].receiver)
            pairs[index].compare(isSilenceKnown: sends[sender] && receives[receiver], tuning)
        }
        let suspects = findSuspects()
        for index in courses.indices { courses[index].take(suspects[index], at: now, tuning) }
        for index in pairs.indices {
            let isSuspect = suspects[pairs[index].sender] != nil || suspects[pairs[index].receiver] != nil
            pairs[index].finishBlock(learns: !isSuspect, tuning)
        }
    }

    /// What each gateway's neighbours say of it. The one for which most speaks comes first, and what concerns it says nothing of others.
    private func findSuspects() -> [Int: PlaceEvidence] {
        var suspects: [Int: PlaceEvidence] = [:]
        let links = changesOfLinks()
        while suspects.count < Self.mostSuspects {
            let evidence = links.indices.filter { suspects[$0] == nil }.compactMap { gateway in
                PlaceEvidence(of: links[gateway].filter { suspects[$0.other] == nil }, tuning).map { (gateway, $0) }
            }.filter { $0.1.ofMove >= tuning.likely || $0.1.ofChange >= tuning.certainOfChange }
            guard let (gateway, strongest) = evidence.max(by: { $0.1.ofChange < $1.1.ofChange }) else { break }
            suspects[gateway] = strongest
        }
        return suspects
    }

    /// For each gateway how the level with each neighbour has changed: the mean of both directions, which share the way.
    private func changesOfLinks() -> [[LinkChange]] {
        var links = names.map { _ in [LinkChange]() }
        for pair in pairs {
            let back = pairIndices[pair.receiver * Self.mostGateways + pair.sender].map { pairs[$0] }
            let both = [pair, back].compactMap { $0 }.filter { $0.change != nil }
            // With both directions the link is counted at the first one alone.
            guard !both.isEmpty, pair.sender < pair.receiver || back?.change == nil, pair.change != nil else {
                continue
            }
            let change = both.reduce(0) { $0 + ($1.change ?? 0) } / Float(both.count)
            let variance = both.reduce(0) { $0 + $1.variance } / Float(both.count)
            links[pair.sender].append(LinkChange(other: pair.receiver, decibels: change, variance: variance))
            links[pair.receiver].append(LinkChange(other: pair.sender, decibels: change, variance: variance))
        }
        return links
    }
}

extension LevelSurvey {
    /// The reference of a pair, as it is stored.
    package struct StoredPair: Hashable, Sendable {
        package let sender: String
        package let receiver: String
        /// dBm, and the variance of a block, dB².
        package let mean: Float
        package let variance: Float
        package let blocks: Int

        package init(sender: String, receiver: String, mean: Float, variance: Float, blocks: Int) {
            (self.sender, self.receiver) = (sender, receiver)
            (self.mean, self.variance, self.blocks) = (mean, variance, blocks)
        }
    }

    /// The references, in the order in which the pairs were first heard.
    package var stored: [StoredPair] {
        pairs.filter { $0.blocks > 0 }.map {
            StoredPair(
                sender: names[$0.sender], receiver: names[$0.receiver], mean: $0.mean, variance: $0.variance,
                blocks: $0.blocks)
        }
    }

    /// What was stored; what cannot be such a reference is left out.
    package init(_ stored: some Sequence<StoredPair>, tuning: LevelSurveyTuning = LevelSurveyTuning()) {
        self.init(tuning: tuning)
        for pair in stored where pair.sender != pair.receiver && pairs.count < Self.mostPairs {
            guard (-127...20).contains(pair.mean), (0...10_000).contains(pair.variance), pair.blocks > 0,
                let sender = index(of: pair.sender), let receiver = index(of: pair.receiver)
            else { continue }
            let key = sender * Self.mostGateways + receiver
            guard pairIndices[key] == nil else { continue }
            pairIndices[key] = pairs.count
            pairs.append(LevelPair(sender: sender, receiver: receiver, pair, tuning))
        }
    }
}
