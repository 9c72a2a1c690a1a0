package import JSON

/// What is published about a gateway that is asked to send a beacon of its own, the member `survey` of `ibeacon-rooms/<site>/health/<gateway>`:
/// `{"heardBy":4,"offset":-4,"change":{"kind":"covered","since":1700000000,"neighbours":4,"decibels":-9}}`.
package struct SurveyHealth: Hashable, Sendable {
    /// That a gateway and its neighbours hear each other otherwise than before.
    package struct Change: Hashable, Sendable {
        package enum Kind: String, Hashable, Sendable {
            /// It is not where it was.
            case moved
            /// All hear it less, and it hears all less, by about the same.
            case covered
        }

        package var kind: Kind
        /// When that was noticed first, epoch seconds; nil if the time of day was not known.
        package var since: Int64?
        /// Of how many neighbours so many say so.
        package var deviating: Int
        package var neighbours: Int
        /// Median of the changes, whole dB; negative: less.
        package var decibels: Int

        package init(_ kind: Kind, since: Int64?, deviating: Int, neighbours: Int, decibels: Int) {
            (self.kind, self.since, self.deviating) = (kind, since, deviating)
            (self.neighbours, self.decibels) = (neighbours, decibels)
        }
    }

    /// How many other gateways hear its beacon.
    package var heardBy: Int
    /// How much more it measures than others, whole dB, as far as what they hear of each other says; nil: nothing.
    package var offset: Int?
    package var change: Change?

    package init(heardBy: Int, offset: Int? = nil, change: Change? = nil) {
        (self.heardBy, self.offset, self.change) = (heardBy, offset, change)
    }

    package var json: JSONValue {
        var members: [String: JSONValue] = ["heardBy": .integer(Int64(heardBy))]
        members["offset"] = offset.map { .integer(Int64($0)) }
        members["change"] = change?.json
        return .object(members)
    }

    /// nil for anything else: the health of a gateway counts without it.
    package init?(_ json: JSONValue) {
        guard let heardBy = Self.number(json["heardBy"], 0...SurveyBeacons.mostGateways) else { return nil }
        self.init(
            heardBy: heardBy, offset: Self.number(json["offset"], -127...127),
            change: json["change"].flatMap { Change($0) })
    }

    fileprivate static func number(_ json: JSONValue?, _ range: ClosedRange<Int>) -> Int? {
        json?.asInteger.flatMap { Int(exactly: $0) }.flatMap { range.contains($0) ? $0 : nil }
    }
}

extension SurveyHealth.Change {
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = [
            "kind": .string(kind.rawValue), "deviating": .integer(Int64(deviating)),
            "neighbours": .integer(Int64(neighbours)), "decibels": .integer(Int64(decibels)),
        ]
        members["since"] = since.map { .integer($0) }
        return .object(members)
    }

    fileprivate init?(_ json: JSONValue) {
        let few = 0...SurveyBeacons.mostGateways
        guard let kind = json["kind"]?.string.flatMap(Kind.init(rawValue:)),
            let deviating = SurveyHealth.number(json["deviating"], few),
            let neighbours = SurveyHealth.number(json["neighbours"], few),
            let decibels = SurveyHealth.number(json["decibels"], -127...127)
        else { return nil }
        self.init(
            kind, since: json["since"]?.asInteger, deviating: deviating, neighbours: neighbours, decibels: decibels)
    }
}
