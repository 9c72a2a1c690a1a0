package import Base
package import JSON

extension RefusalRecord {
    /// Objects that a finding names; `status` lists all.
    static let mostShown = 3
    /// Characters of the objects that a finding names beside the first.
    static let mostNameCharacters = 80

    /// What is refused now, one finding for each kind and reason.
    ///
    /// - Parameter main: The connection whose own state is shown elsewhere. Its failures are no second finding.
    package func findings(besides main: String, at now: MonotonicInstant) -> [Finding] {
        struct Group: Hashable {
            let kind: Refused.Kind
            let reason: String
        }
        var groups: [Group: [Entry]] = [:]
        var order: [Group] = []
        for entry in standing(at: now) {
            let (kind, connection) = (entry.refused.kind, entry.refused.connection)
            if connection == main, kind == .connection || kind == .clientID { continue }
            let group = Group(kind: kind, reason: entry.refused.reason)
            if groups[group] == nil { order.append(group) }
            groups[group, default: []].append(entry)
        }
        return order.compactMap { group in
            groups[group].flatMap { Self.finding(group.kind, $0, because: group.reason) }
        }
    }

    /// The first objects. The reason stands behind them, and a text that is shown has a bound, so long names make the list shorter.
    private static func named(of objects: [String]) -> [String] {
        var named: [String] = []
        var length = 0
        for object in objects.prefix(mostShown) {
            length += object.count
            guard named.isEmpty || length <= mostNameCharacters else { break }
            named.append(object)
        }
        return named
    }

    private static func finding(_ kind: Refused.Kind, _ entries: [Entry], because reason: String) -> Finding? {
        // The sorts are stable: of equal ones, what was refused first is said first.
        let entries = entries.sorted { rank($0) < rank($1) }
        guard let gravest = entries.first else { return nil }
        let names = named(of: entries.map(\.refused.object))
        var text = kind.sentence(of: names, andMore: entries.count - names.count, because: reason)
        // Entries of one kind and reason may lack different things.
        var lacking: [Consequence] = []
        for case let consequence? in entries.map(\.consequence) where !consequence.text.isEmpty {
            if !lacking.contains(consequence) { lacking.append(consequence) }
        }
        if !lacking.isEmpty { text += "; " + lacking.prefix(mostShown).map(\.text).joined(separator: "; ") }
        return Finding(.warning, kind.subject, text, remedy: kind.remedy(of: gravest.refused.cause))
    }

    /// What is missed without a word for it is the least.
    private static func rank(_ entry: Entry) -> Int {
        entry.consequence.map { $0.text.isEmpty ? .max : $0.rank } ?? .max
    }

    /// The members of each: `connection`, `kind`, `object`, `reason`, `count`, `firstAgo`, `lastAgo`, `over`.
    package func json(at now: MonotonicInstant) -> JSONValue {
        .array(
            entries.map { entry in
                [
                    "connection": .string(entry.refused.connection), "kind": .string(entry.refused.kind.rawValue),
                    "object": .shown(entry.refused.object), "reason": .shown(entry.refused.reason),
                    "count": .count(entry.count), "firstAgo": .ago(entry.first, at: now),
                    "lastAgo": .ago(entry.last, at: now), "over": .bool(entry.isOver),
                ]
            })
    }

    /// Reads what `json(at:)` wrote. What cannot be an entry is left out.
    package init(reading json: JSONValue, at now: MonotonicInstant) {
        self.init(
            (json.array ?? []).prefix(Self.limit).compactMap { json in
                guard let kind = json["kind"]?.string.flatMap(Refused.Kind.init(rawValue:)),
                    let object = json["object"]?.string, let connection = json["connection"]?.string
                else { return nil }
                let reason = json["reason"]?.string ?? ""
                return Entry(
                    refused: Refused(kind, object, on: connection, because: reason), count: json["count"]?.asCount ?? 0,
                    first: json["firstAgo"]?.instant(before: now) ?? now,
                    last: json["lastAgo"]?.instant(before: now) ?? now, consequence: nil,
                    isOver: json["over"] == .bool(true))
            })
    }

    /// For the metrics, in a fixed order. Topics are in none of them: each would add a series.
    package var labelledTotals: [(labels: [(String, String)], value: Double)] {
        totals.sorted { ($0.key.connection, $0.key.kind.rawValue) < ($1.key.connection, $1.key.kind.rawValue) }.map {
            ([("connection", $0.key.connection), ("kind", $0.key.kind.rawValue)], Double($0.value))
        }
    }
}

extension Refused.Kind {
    /// The subject of a finding.
    fileprivate var subject: String {
        switch self {
        case .connection, .clientID: "connection"
        case .subscription, .message: "rights"
        case .size, .retain: "limits"
        case .post: "server"
        }
    }

    fileprivate func remedy(of cause: Refused.Cause) -> String {
        switch self {
        case .subscription where cause != .rights, .message where cause != .rights:
            cause == .quota
                ? "look at the broker's quotas, its disk and its log"
                : "change the broker's own settings: they forbid this to every login"
        case .connection: "look at the broker's log: it may admit one connection, or other client ids than this one"
        case .clientID: "let the broker admit this client id, too, or several client ids for one login"
        case .subscription, .message:
            "give the login the right on the broker; 'ibeacon-gateway doctor' prints the lines that are missing"
        case .size: "raise the broker's limit; what was set aside because of it is sent then"
        case .post:
            "look at the server's log, and whether url is its address for OwnTracks; Docs/http.md says what becomes of the messages"
        case .retain: "let the broker retain messages (mosquitto: retain_available true)"
        }
    }
}
