import Beacon
package import JSON
package import Regions

extension Region {
    /// The members of a beacon region that a person may change: `desc` (the name alone), `uuid`, `major` and `minor`
    /// (0: any), `leaveAfter` (seconds or `auto`), `enterRSSI` and `leaveRSSI` (dBm). null means that a member is not
    /// set.
    ///
    /// `waypoint(changing:base:)` accepts the same members.
    package var form: JSONValue {
        let pattern = description.pattern
        return [
            "rid": .string(rid), "desc": .string(description.name),
            "uuid": pattern.map { .string("\($0.uuid)") } ?? .null,
            "major": .integer(Int64(pattern?.major ?? 0)), "minor": .integer(Int64(pattern?.minor ?? 0)),
            "leaveAfter": leaveRule?.json ?? .null,
            "enterRSSI": enterRSSI.map { .integer(Int64($0.dBm)) } ?? .null,
            "leaveRSSI": leaveRSSI.map { .integer(Int64($0.dBm)) } ?? .null,
        ]
    }
}
