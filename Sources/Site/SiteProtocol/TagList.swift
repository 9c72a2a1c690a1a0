package import Beacon
package import JSON

/// The retained list of the site's tags on `ibeacon-rooms/<site>/tags`:
/// `{"v":1,"version":7,"by":"a","tags":[{"uuid":"…","major":1,"minor":7,"id":"jane","name":"Jane"}]}`.
///
/// Gateways read the beacons of `tags`, and of `patterns`, the tags that fit several beacons, the one that an identity is heard
/// as. `survey` has the beacons that they send themselves. The other members are for the services of the site, which keep the same
/// list: its version, ids and names. A service of an earlier version writes only `v` and the beacons.
package struct TagList: Hashable, Sendable {
    /// Says which of two lists is the newer one.
    package struct Version: Hashable, Comparable, Sendable {
        /// Grows with each change; 0: the list has no version.
        package var number: Int64
        /// The service that made the change.
        package var instance: String

        package init(_ number: Int64, _ instance: String) { (self.number, self.instance) = (number, instance) }

        /// Of two changes with one number, that of the smaller name holds, as in the election of the active service.
        package static func < (left: Version, right: Version) -> Bool {
            left.number != right.number ? left.number < right.number : left.instance > right.instance
        }

        /// The members of a list, and the value in the store.
        package var members: [String: JSONValue] { ["version": .integer(number), "by": .string(instance)] }

        /// - Returns: nil if `json` has no version.
        package init?(_ json: JSONValue) {
            guard let number = json["version"]?.asInteger, (1...1 << 52).contains(number),
                let by = json["by"], let instance = try? FeedDecoder.name(by, "by")
            else { return nil }
            self.init(number, instance)
        }
    }

    package struct Tag: Hashable, Sendable {
        package var uuid: BeaconUUID
        /// nil: any.
        package var major: UInt16?
        /// nil: any.
        package var minor: UInt16?
        /// nil in the list of an earlier version.
        package var id: String?
        /// nil in the list of an earlier version, and for a name that no list can hold.
        package var name: String?

        package init(uuid: BeaconUUID, major: UInt16?, minor: UInt16?, id: String? = nil, name: String? = nil) {
            (self.uuid, self.major, self.minor) = (uuid, major, minor)
            (self.id, self.name) = (id, name.flatMap { FeedDecoder.isName($0) ? $0 : nil })
        }

        /// nil if the tag fits several beacons.
        package var beacon: BeaconID? {
            guard let major, let minor else { return nil }
            return BeaconID(uuid: uuid, major: major, minor: minor)
        }

        fileprivate func fits(_ beacon: BeaconID) -> Bool {
            uuid == beacon.uuid && major ?? beacon.major == beacon.major && minor ?? beacon.minor == beacon.minor
        }

        fileprivate func json(isNamed: Bool) -> JSONValue {
            var members: [String: JSONValue] = ["uuid": .string("\(uuid)")]
            members["major"] = major.map { .integer(Int64($0)) }
            members["minor"] = minor.map { .integer(Int64($0)) }
            if isNamed {
                members["id"] = id.map { .string($0) }
                members["name"] = name.map { .string($0) }
            }
            return .object(members)
        }
    }

    package let version: Version
    package let tags: [Tag]
    /// What the gateways send so that they hear each other; nil: nothing.
    package var survey: SurveyBeacons?

    /// Whether a person may mean one of the tags by `name`: its name or id in any case, or its beacon. A list may lack names.
    package func mayHave(tagNamed name: String) -> Bool {
        let (lowered, beacon) = (name.lowercased(), BeaconID(name))
        return tags.contains { tag in
            guard let id = tag.id, let name = tag.name else { return true }
            return id.lowercased() == lowered || name.lowercased() == lowered || beacon.map { tag.fits($0) } == true
        }
    }

    package init(_ version: Version, _ tags: [Tag], survey: SurveyBeacons? = nil) {
        (self.version, self.tags, self.survey) = (version, tags, survey)
    }

    /// A list as a service of an earlier version writes it.
    package init(_ beacons: [BeaconID]) {
        self.init(Version(0, ""), beacons.map { Tag(uuid: $0.uuid, major: $0.major, minor: $0.minor) })
    }

    /// What gateways listen for. Of a tag that fits several beacons it is that with 0 in place of each number it lacks: a phone,
    /// and all else that has an address and no numbers, is heard as `UUID:0:0`.
    package var beacons: [BeaconID] {
        tags.map { BeaconID(uuid: $0.uuid, major: $0.major ?? 0, minor: $0.minor ?? 0) }
    }

    /// At most `FeedDecoder.mostTagListBytes`. Names that make it longer are left out: gateways need the beacons.
    package var payload: [UInt8] {
        let bytes = payload(isNamed: true)
        return bytes.count <= FeedDecoder.mostTagListBytes ? bytes : payload(isNamed: false)
    }

    private func payload(isNamed: Bool) -> [UInt8] {
        func bytes(_ tags: some Sequence<Tag>) -> [UInt8] {
            JSONValue.bytes(ofArray: tags.lazy.map { $0.json(isNamed: isNamed) })
        }
        let patterns = tags.filter { $0.beacon == nil }
        var members = (version.number > 0 ? version.members : [:]).mapValues(\.bytes)
        members["v"] = JSONValue.integer(1).bytes
        members["tags"] = bytes(tags.lazy.filter { $0.beacon != nil })
        if !patterns.isEmpty { members["patterns"] = bytes(patterns) }
        members["survey"] = survey?.json.bytes
        return JSONValue.bytes(ofObject: members)
    }
}
