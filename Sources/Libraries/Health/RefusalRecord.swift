package import Base

/// Everything that brokers and servers refuse, on every connection of a service: the one record that log, `status`, pages,
/// metrics, `doctor` and Home Assistant's problem show. How to add a kind: `Refused.Kind`.
package struct RefusalRecord: Hashable, Sendable {
    /// What a service lacks because of a refusal, in words; empty: the refusal says it.
    package struct Consequence: Hashable, Sendable, ExpressibleByStringLiteral {
        package let text: String
        /// The smallest is said first: a finding has room for few.
        package let rank: Int

        package init(_ text: String, rank: Int = 0) { (self.text, self.rank) = (text, rank) }

        package init(stringLiteral text: String) { self.init(text) }
    }

    package struct Entry: Hashable, Sendable {
        package internal(set) var refused: Refused
        package internal(set) var count: UInt64
        package internal(set) var first: MonotonicInstant
        package internal(set) var last: MonotonicInstant
        /// What the service lacks because of it; nil: nothing, and it is no finding.
        package internal(set) var consequence: Consequence?
        /// It was admitted later, or the settings have changed.
        package internal(set) var isOver = false
    }

    /// How a refusal is logged.
    package enum Naming: Hashable, Sendable {
        /// With its object: it was not missed before, or was admitted between.
        case named
        /// It was named before, or too many others were, or nothing is missed: only as a number.
        case counted
    }

    /// A connection and a kind, as the metrics count them.
    package struct Total: Hashable, Sendable {
        package let connection: String
        package let kind: Refused.Kind
    }

    /// Objects that are remembered. The one whose latest refusal is longest ago is forgotten first.
    package static let limit = 64
    /// Characters of an object or a reason.
    static let mostCharacters = 200
    /// Objects that are named in the log in one `namingPeriod`.
    static let mostNamed = 64
    static let namingPeriod: Duration = .seconds(3600)
    /// So long after its latest refusal an object that is not used any more is no finding.
    static let life: Duration = .seconds(86_400)

    /// The one that was refused first is the first.
    package private(set) var entries: [Entry] = []
    /// All refusals since the start.
    package private(set) var totals: [Total: UInt64] = [:]
    private var namedSince: MonotonicInstant?
    private var named = 0

    package init() {}

    /// A record that was read.
    init(_ entries: [Entry]) { self.entries = entries }

    /// Records a refusal.
    ///
    /// - Parameter consequence: As of `Entry`.
    package mutating func add(_ refused: Refused, consequence: Consequence?, at now: MonotonicInstant) -> Naming {
        var refused = refused
        refused.object = refused.object.bounded
        refused.reason = refused.reason.bounded
        totals[Total(connection: refused.connection, kind: refused.kind), default: 0] += 1
        guard let place = place(of: refused) else {
            if entries.count >= Self.limit { makeRoom() }
            entries.append(Entry(refused: refused, count: 1, first: now, last: now, consequence: consequence))
            return naming(consequence, at: now)
        }
        let wasMissed = !entries[place].isOver && entries[place].consequence != nil
        (entries[place].refused.reason, entries[place].refused.cause) = (refused.reason, refused.cause)
        entries[place].count += 1
        (entries[place].last, entries[place].isOver) = (now, false)
        entries[place].consequence = consequence
        return wasMissed ? .counted : naming(consequence, at: now)
    }

    /// What was refused is admitted. An admitted message ends the refusals of its topic, an accepted connection those of that
    /// connection and its client id.
    ///
    /// - Returns: Whether anything was refused until now.
    package mutating func admit(_ admitted: Refused) -> Bool {
        var admitted = admitted
        admitted.object = admitted.object.bounded
        return end { $0.refused.ends(with: admitted) }
    }

    /// A connection begins with new settings: nothing is known of it.
    package mutating func forget(_ connection: String) { _ = end { $0.refused.connection == connection } }

    /// A connection begins that may have other properties: what is still refused of this kind is refused again.
    package mutating func forget(_ kind: Refused.Kind, of connection: String) {
        _ = end { $0.refused.connection == connection && $0.refused.kind == kind }
    }

    /// How often it was refused.
    package func count(of refused: Refused) -> UInt64 { place(of: refused).map { entries[$0].count } ?? 0 }

    /// Whether it was refused before and not admitted since.
    package func isRefused(_ refused: Refused) -> Bool { place(of: refused).map { !entries[$0].isOver } ?? false }

    /// What is refused now, and is missed. The one that was refused first is the first.
    package func standing(at now: MonotonicInstant) -> [Entry] {
        entries.filter { !$0.isOver && $0.consequence != nil && $0.last.duration(to: now) < Self.life }
    }

    private mutating func end(_ isEnding: (Entry) -> Bool) -> Bool {
        var hasEnded = false
        for index in entries.indices where !entries[index].isOver && isEnding(entries[index]) {
            entries[index].isOver = true
            hasEnded = true
        }
        return hasEnded
    }

    private func place(of refused: Refused) -> Int? {
        let object = refused.object.bounded
        return entries.firstIndex {
            $0.refused.kind == refused.kind && $0.refused.connection == refused.connection
                && $0.refused.object.hasSameBytes(as: object)
        }
    }

    private mutating func makeRoom() {
        let oldest = entries.indices.min { entries[$0].last < entries[$1].last }
        if let oldest { entries.remove(at: oldest) }
    }

    private mutating func naming(_ consequence: Consequence?, at now: MonotonicInstant) -> Naming {
        guard consequence != nil else { return .counted }
        if namedSince.map({ $0.duration(to: now) >= Self.namingPeriod }) ?? true { (namedSince, named) = (now, 0) }
        guard named < Self.mostNamed else { return .counted }
        named += 1
        return .named
    }
}

extension String {
    /// Bounded, as the memory of the record is.
    fileprivate var bounded: String {
        unicodeScalars.count <= RefusalRecord.mostCharacters
            ? self : String(String.UnicodeScalarView(unicodeScalars.prefix(RefusalRecord.mostCharacters))) + "…"
    }
}
