import Beacon
import Identities
import JSON
import Regions

/// Reads one waypoint object into one step of a merge, by the rules of OwnTracks for iOS (`setWaypoints`). It is more
/// tolerant where OwnTracks' documents are.
struct WaypointReader {
    let base: NumberBase
    /// Whether descriptions may have a key, because nobody else can read them.
    let acceptsKeys: Bool
    private(set) var remarks: [String] = []
    /// The key in the description of the last waypoint.
    private(set) var key: NamedKey?

    mutating func change(from element: JSONValue) throws(WaypointRefusal) -> RegionChange {
        (remarks, key) = ([], nil)
        guard let members = element.object else {
            throw WaypointRefusal(reason: "it is \(element.kindName); expected an object")
        }
        try checkType(members)
        let description = try text(members, "desc") ?? WaypointMember.defaultName
        let timestamp = try timestamp(members)
        let name = description.prefix { $0 != ":" }
        let (rid, isDerived) = try rid(members, name: String(name), timestamp: timestamp)
        let latitude = try number(members, "lat")
        let longitude = try number(members, "lon")
        // A radius is a whole number of metres; rounding away from 0 keeps circle and beacon apart.
        let radius = try number(members, "rad").rounded(.awayFromZero)
        guard abs(radius) <= WaypointMember.largestRadius else {
            throw refusal(members, "rad", "a number of metres that fits on the Earth")
        }
        let coordinates = Coordinates(
            latitude: roundedDegrees(latitude), longitude: roundedDegrees(longitude))
        guard coordinates.isValid else {
            guard !hasRID(members) else { return .remove(rid: rid) }
            return .removeMeant(
                RegionRemoval(
                    rid: rid, timestamp: timestamp == 0 ? nil : timestamp,
                    description: removed(description, members, isBeaconRegion: radius <= 0)))
        }
        var region = Region(
            rid: rid,
            description: try self.description(description, members, isBeaconRegion: radius <= 0),
            timestamp: timestamp, coordinates: coordinates, radius: radius)
        try readOwnMembers(members, into: &region)
        let unknown = members.filter { !WaypointMember.known.contains($0.key) }
        region.extensionMembers = unknown.isEmpty ? "" : JSONValue.object(unknown).text
        // A time of creation equal to the time stamp is not stored, so that an export reads as the same region.
        if unknown[Region.creationMember] == .integer(timestamp) { region = region.created(at: timestamp) }
        if let key = region.description.key { self.key = NamedKey(name: region.displayName, key: key) }
        region = region.keepingIdentity()
        remark(on: region)
        return .set(region, isRIDDerived: isDerived)
    }

    private func checkType(_ members: [String: JSONValue]) throws(WaypointRefusal) {
        guard members["_type"] == "waypoint" else {
            throw refusal(members, "_type", "'waypoint'")
        }
    }

    /// - Returns: 0 if the member is missing, null or an empty string; `Region.succeeding` sets the time.
    private func timestamp(_ members: [String: JSONValue]) throws(WaypointRefusal) -> Int64 {
        switch members["tst"] {
        case nil, .null, .string(""): return 0
        default: break
        }
        guard let seconds = members["tst"]?.asNumber, let timestamp = Int64(exactly: seconds.rounded(.towardZero))
        else { throw refusal(members, "tst", "a number, in seconds since 1970") }
        return timestamp
    }

    /// - Returns: nil if the member is missing or null.
    private func text(_ members: [String: JSONValue], _ name: String) throws(WaypointRefusal) -> String? {
        switch members[name] {
        case nil, .null: return nil
        case .string(let text): return text
        default: throw refusal(members, name, "a string")
        }
    }

    private func rid(
        _ members: [String: JSONValue], name: String, timestamp: Int64
    ) throws(WaypointRefusal) -> (String, isDerived: Bool) {
        switch members["rid"] {
        case nil, .null, .string(""):
            // Without `tst` the older key is unusable: the `rid` is derived from time 0, the same at each repetition.
            return (derivedRID(name: name, timestamp: timestamp), timestamp != 0)
        case .string(let rid) where rid.utf8.count <= WaypointMember.longestRID: return (rid, false)
        default:
            throw refusal(members, "rid", "a string of at most \(WaypointMember.longestRID) bytes")
        }
    }

    private func hasRID(_ members: [String: JSONValue]) -> Bool { members["rid"]?.string?.isEmpty == false }

    /// The description of a removal without a `rid`, with what the members `uuid`, `major` and `minor` say. A mistake in it does no harm: a
    /// circle may have the text as its name.
    private func removed(
        _ text: String, _ members: [String: JSONValue], isBeaconRegion: Bool
    ) -> RegionDescription {
        (try? description(text, members, isBeaconRegion: isBeaconRegion))
            ?? RegionDescription(name: RegionDescription.shown(text), pattern: nil)
    }

    /// An optional member that must be a number: other text (or null) would otherwise become 0 and move the region.
    private func number(_ members: [String: JSONValue], _ name: String) throws(WaypointRefusal) -> Double {
        guard let value = members[name] else { return 0 }
        guard let number = value.asNumber else { throw refusal(members, name, "a number") }
        return number
    }

    private func description(
        _ text: String, _ members: [String: JSONValue], isBeaconRegion: Bool
    ) throws(WaypointRefusal) -> RegionDescription {
        let name = String(text.prefix { $0 != ":" })
        let hasOwnUUID = members["uuid"].map { $0 != .null && $0 != "" } ?? false
        // With a UUID member, the text is used only for members that are missing, so mistakes in it do no harm.
        let written: RegionDescription
        do throws(RegionDescriptionError) {
            let isPlain = isBeaconRegion && !hasOwnUUID && !name.hasPrefix("+")
            written = try RegionDescription(parsing: text, base: base, acceptsKey: acceptsKeys && isPlain)
        } catch .secretKey {
            throw WaypointRefusal(reason: "desc: \(IdentityError.key)")
        } catch {
            // A circle may be called "Lunch: the corner"; its name is kept unchanged.
            if !isBeaconRegion || name.hasPrefix("+"), !name.isEmpty, text.utf8.count <= RegionDescription.longestName {
                return RegionDescription(name: text, pattern: nil)
            }
            guard hasOwnUUID, !name.isEmpty, name.utf8.count <= RegionDescription.longestName else {
                throw WaypointRefusal(reason: "desc: \(error)")
            }
            written = RegionDescription(name: name, pattern: nil)
        }
        let major = try beaconNumber(members, "major")
        let minor = try beaconNumber(members, "minor")
        var uuid = written.pattern?.uuid
        if hasOwnUUID {
            guard let own = members["uuid"]?.string.flatMap({ BeaconUUID($0) }) else {
                throw refusal(members, "uuid", "32 hexadecimal digits, dashed 8-4-4-4-12 or with no dash")
            }
            uuid = own
        }
        guard let uuid else { return written }
        let pattern = BeaconPattern(
            uuid: uuid, major: major ?? written.pattern?.major, minor: minor ?? written.pattern?.minor)
        return RegionDescription(
            name: written.name,
            pattern: BeaconPattern(
                uuid: uuid, major: pattern.major == 0 ? nil : pattern.major,
                minor: pattern.minor == 0 ? nil : pattern.minor),
            identity: hasOwnUUID ? nil : written.identity, key: written.key)
    }

    /// nil if the member is missing; 0 means "any", and takes precedence over the description.
    private func beaconNumber(_ members: [String: JSONValue], _ name: String) throws(WaypointRefusal) -> UInt16? {
        switch members[name] {
        case nil, .null, .string(""): return nil
        case let value?:
            guard let number = value.asInteger, let number = UInt16(exactly: number) else {
                throw refusal(members, name, "a decimal number from 0 (any) to 65535")
            }
            return number
        }
    }

    private func readOwnMembers(
        _ members: [String: JSONValue], into region: inout Region
    ) throws(WaypointRefusal) {
        if let value = members["leaveAfter"], value != .null {
            guard let rule = LeaveRule(value) else { throw refusal(members, "leaveAfter", LeaveRule.allowed) }
            region.leaveRule = rule
        }
        region.enterRSSI = try rssi(members, "enterRSSI")
        region.leaveRSSI = try rssi(members, "leaveRSSI")
        if let enter = region.enterRSSI, let leave = region.leaveRSSI, leave > enter {
            throw refusal(members, "leaveRSSI", "a number not above enterRSSI (\(enter.dBm))")
        }
    }

    private func rssi(_ members: [String: JSONValue], _ name: String) throws(WaypointRefusal) -> RSSI? {
        guard let value = members[name], value != .null else { return nil }
        guard let rssi = RSSI(value) else { throw refusal(members, name, RSSI.allowed) }
        return rssi
    }

    private mutating func remark(on region: Region) {
        if let remark = region.remark { remarks.append(remark) }
        if let pattern = region.description.pattern, pattern.major == nil, pattern.minor != nil {
            remarks.append("a minor without a major is honoured here, but a phone hears every beacon of the UUID")
        }
    }

    private func refusal(
        _ members: [String: JSONValue], _ name: String, _ allowed: String
    ) -> WaypointRefusal {
        guard let value = members[name] else {
            return WaypointRefusal(reason: "\(name) is missing; it is \(allowed)")
        }
        // A key may stand in the wrong member.
        let text = value.string.map { String(RegionDescription.shown(":\($0)").dropFirst()) }
        let shown = (text.map { JSONValue.string($0) } ?? value).shortened
        return WaypointRefusal(reason: "\(name): \(shown) does not fit; write \(allowed)")
    }
}
