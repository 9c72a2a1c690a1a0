import Base
package import Beacon
import JSON

/// Decodes the messages of gateways and users to the rooms service. Any client with publish rights can send arbitrary
/// bytes.
package enum FeedDecoder {
    /// Largest number of tags of a site.
    package static let mostTags = 10_000
    /// Largest number of tags in one message of a gateway.
    package static let mostReadings = 256
    /// Largest size of such a message, bytes: 256 readings with every member at full length are 36 kB.
    package static let mostHeardBytes = 65_536
    /// Largest size of the list of tags, bytes.
    package static let mostTagListBytes = 4 << 20
    /// Longest name of a room or a tag, bytes.
    package static let mostNameBytes = 128
    /// Longest member `boot`, bytes.
    package static let mostStartIDBytes = 64

    // MARK: heard

    /// What `doctor` publishes on `ibeacon-rooms/<site>/heard/<gateway>` in the place of readings, to learn whether the broker accepts
    /// them. It says nothing.
    package static let trial = Array(#"{"v":0}"#.utf8)

    /// Whether a payload is a trial of `doctor`, which is ignored and no mistake.
    static func isTrial(_ payload: some Collection<UInt8>) -> Bool { payload.elementsEqual(trial) }

    /// Reads the payload of `ibeacon-rooms/<site>/heard/<gateway>`.
    package static func heard(_ payload: some Collection<UInt8>) throws(FeedError) -> HeardSecond {
        let scanned = payload.withContiguousStorageIfAvailable { bytes in
            HeardScanner.scan(Span(_unsafeElements: bytes))
        }
        if case .some(.some(let second)) = scanned { return second }
        return try heardInAnyForm(payload)
    }

    /// Reads the same message from JSON of any form. Tests compare the two decoders.
    package static func heardInAnyForm(_ payload: some Collection<UInt8>) throws(FeedError) -> HeardSecond {
        let json = try read(payload, bytes: mostHeardBytes, values: 4096)
        guard json["v"]?.asInteger == 1 else { throw FeedError("'v' is not 1; this version of the feed is not known") }
        guard let at = whole(json["at"], 0...1 << 52) else { throw FeedError("'at' is not a number of milliseconds") }
        guard let elements = json["beacons"]?.array else { throw FeedError("'beacons' is not a list") }
        guard elements.count <= mostReadings else {
            throw FeedError("\(elements.count) beacons are too many; at most \(mostReadings) are taken")
        }
        let startID = json["boot"]?.string ?? ""
        guard startID.utf8.count <= mostStartIDBytes else {
            throw FeedError("'boot' has more than \(mostStartIDBytes) bytes")
        }
        var readings: [Reading] = []
        readings.reserveCapacity(elements.count)
        for element in elements {
            guard let reading = reading(element) else { throw FeedError("an element of 'beacons' is not a reading") }
            readings.append(reading)
        }
        return HeardSecond(
            startID: startID, sequence: whole(json["seq"], 0...(.max)) ?? 0, at: .milliseconds(at),
            listening: .milliseconds(whole(json["listening"], 0...3_600_000) ?? 1000),
            reports: whole(json["reports"], 0...(.max)) ?? 1, readings: readings)
    }

    private static func reading(_ json: JSONValue) -> Reading? {
        guard let beacon = json["id"]?.string.flatMap({ BeaconID($0) }) else { return nil }
        return Reading(
            beacon: beacon, count: Int(whole(json["n"], 1...100_000) ?? 1),
            level: level(json["rssi"]) ?? level(json["max"]), power: level(json["power"]),
            age: .milliseconds(whole(json["age"], 0...60_000) ?? 0),
            battery: whole(json["battery"], 0...100).map { UInt8($0) })
    }

    /// A level in dBm; nil if a radio cannot measure such a level.
    static func level(_ json: JSONValue?) -> Float? {
        guard let value = json?.asNumber, (-127...20).contains(value) else { return nil }
        return Float(value)
    }

    private static func whole(_ json: JSONValue?, _ range: ClosedRange<Int64>) -> Int64? {
        guard let number = json?.asNumber, number.isFinite, abs(number) < 9e18 else { return nil }
        let value = json?.asInteger ?? Int64(number)
        return range.contains(value) ? value : nil
    }

    // MARK: ESPresense

    /// Reads ESPresense's message about one beacon, the payload of
    /// `espresense/devices/iBeacon:<uuid>-<major>-<minor>/<node>`.
    ///
    /// - Returns: nil if it is the message of a `VirtualNode`, of this service or of another.
    package static func espresense(
        _ beacon: BeaconID, _ payload: some Collection<UInt8>
    ) throws(FeedError) -> HeardSecond? {
        let json = try read(payload, bytes: 8192, values: 256)
        if json["virtual"]?.asBool == true { return nil }
        guard let level = level(json["rssi"]) else { throw FeedError("'rssi' is not a level in dBm") }
        let reading = Reading(beacon: beacon, count: 1, level: level, power: self.level(json["rssi@1m"]), age: .zero)
        return HeardSecond(
            startID: "", sequence: 0, at: nil, listening: .seconds(1), reports: 1, readings: [reading])
    }

    /// Reads ESPresense's settings of one beacon, the payload of `espresense/settings/iBeacon:<uuid>-<major>-<minor>/config`.
    ///
    /// - Returns: The other id that they give it; nil if they give it none.
    package static func espresenseAlias(
        of beacon: BeaconID, _ payload: some Collection<UInt8>
    ) throws(FeedError) -> String? {
        guard !payload.isEmpty else { return nil }
        let json = try read(payload, bytes: 8192, values: 256)
        guard json.object != nil else { throw FeedError("ESPresense's settings of a beacon are an object") }
        guard let id = json["id"], id.string != "" else { return nil }
        let alias = try name(id, "id")
        return RoomTopic("espresense/devices/\(alias)/n") == .espresense(beacon, node: "n") ? nil : alias
    }

    // MARK: Cards, tags, training

    /// Reads the payload of `ibeacon-rooms/<site>/gateway/<gateway>`.
    package static func card(_ payload: some Collection<UInt8>) throws(FeedError) -> GatewayCard {
        let json = try read(payload, bytes: 8192, values: 256)
        guard json.object != nil else { throw FeedError("a gateway's card is an object") }
        let room = try json["room"].flatMap { value throws(FeedError) -> RoomName? in
            if case .null = value { return nil }
            return try roomName(value, "room")
        }
        func text(_ member: String) -> String? {
            json[member]?.string.map { String($0.prefix(GatewayCard.longestVersion)) }
        }
        let phones = json["phones"]?.array?.prefix(GatewayCard.mostPhones).compactMap {
            $0.string.flatMap { BeaconUUID($0) }
        }
        let adapters = json["adapters"]?.array?.prefix(GatewayCard.mostAdapters).compactMap { address($0) }
        return GatewayCard(
            room: room, floor: whole(json["floor"], roomFloors).map { Int($0) }, version: text("version"),
            scanner: text("scanner"), since: json["since"]?.asInteger,
            phones: phones ?? [], adapters: adapters ?? [], source: json["source"].flatMap { address($0) },
            survey: json["survey"].flatMap { SurveySending($0) })
    }

    /// Reads `B8:27:EB:00:22:01`; nil for anything else.
    private static func address(_ json: JSONValue) -> DeviceAddress? {
        guard let text = json.string, text.utf8.count == 17, let value = UInt64(text.filter { $0 != ":" }, radix: 16)
        else { return nil }
        let address = DeviceAddress(value: value, isRandom: false)
        return address.description.hasSameBytes(as: text.uppercased()) ? address : nil
    }

    /// Reads the payload of `ibeacon-rooms/<site>/tags`.
    package static func tags(_ payload: some Collection<UInt8>) throws(FeedError) -> TagList {
        if payload.isEmpty { return TagList([]) }
        let json = try read(payload, bytes: mostTagListBytes, values: 100_000)
        guard let elements = json["tags"]?.array else { throw FeedError("'tags' is not a list") }
        let patterns = json["patterns"]?.array ?? []
        let count = elements.count + patterns.count
        guard count <= mostTags else { throw FeedError("\(count) tags are too many; at most \(mostTags) are taken") }
        var tags: [TagList.Tag] = []
        for (index, element) in (elements + patterns).enumerated() {
            let tag = try tag(element)
            guard tag.beacon != nil || index >= elements.count else { throw noTag }
            tags.append(tag)
        }
        let survey = try json["survey"].map { json throws(FeedError) in try SurveyBeacons(json) }
        return TagList(TagList.Version(json) ?? TagList.Version(0, ""), tags, survey: survey)
    }

    private static let noTag = FeedError("an element of 'tags' has no uuid, major and minor")

    private static func tag(_ json: JSONValue) throws(FeedError) -> TagList.Tag {
        func number(_ member: String) throws(FeedError) -> UInt16? {
            guard let value = json[member] else { return nil }
            guard let number = whole(value, 0...65_535) else { throw noTag }
            return UInt16(number)
        }
        guard let uuid = json["uuid"]?.string.flatMap({ BeaconUUID($0) }) else { throw noTag }
        return TagList.Tag(
            uuid: uuid, major: try number("major"), minor: try number("minor"),
            id: try json["id"].map { value throws(FeedError) in try name(value, "id") },
            name: try json["name"].map { value throws(FeedError) in try name(value, "name") })
    }

    /// A request about the training of a room.
    package enum LearnRequest: Hashable, Sendable {
        /// Begins a training run: the tag is carried through the room. A duration of zero ends the run.
        case train(room: RoomName, tag: String, Duration)
        /// Deletes everything learned about the room, which may also be given by its id.
        case forget(room: RoomName)
        /// The room has another name now: what was learned of it is that room's.
        case rename(room: RoomName, to: RoomName)
        /// The gateway names another room because it was carried there: what it measured before is wrong.
        case moved(gateway: String)

        /// The request as a payload of `ibeacon-rooms/<site>/learn`.
        package var payload: [UInt8] { json.bytes }

        var json: JSONValue {
            switch self {
            case .train(let room, let tag, let duration):
                let seconds = Double(duration.nanoseconds) / 1e9
                return ["room": .string(room.name), "tag": .string(tag), "seconds": .number(seconds)]
            case .forget(let room): return ["room": .string(room.name), "forget": true]
            case .rename(let room, let new): return ["room": .string(room.name), "rename": .string(new.name)]
            case .moved(let gateway): return ["gateway": .string(gateway), "moved": true]
            }
        }
    }

    /// Reads the payload of `ibeacon-rooms/<site>/learn`.
    package static func learn(_ payload: some Collection<UInt8>) throws(FeedError) -> LearnRequest {
        try learn(try read(payload, bytes: 4096, values: 64))
    }

    static func learn(_ json: JSONValue) throws(FeedError) -> LearnRequest {
        if json["forget"]?.asBool == true, let room = json["room"] { return .forget(room: try roomName(room, "room")) }
        if let new = json["rename"], let room = json["room"] {
            return .rename(room: try roomName(room, "room"), to: try roomName(new, "rename"))
        }
        if json["moved"]?.asBool == true, let gateway = json["gateway"] {
            return .moved(gateway: try name(gateway, "gateway"))
        }
        guard let room = json["room"], let tag = json["tag"] else {
            throw FeedError("a training run needs 'room' and 'tag'")
        }
        guard let seconds = json["seconds"]?.asNumber, (0...3600).contains(seconds) else {
            throw FeedError("'seconds' is not a number from 0 to 3600")
        }
        return .train(
            room: try roomName(room, "room"), tag: try name(tag, "tag"),
            .milliseconds(Int64((seconds * 1000).rounded())))
    }

    /// Whether messages of the site can hold this text as a name.
    package static func isName(_ text: String) -> Bool {
        (1...mostNameBytes).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f }
    }

    static func name(_ json: JSONValue, _ member: String) throws(FeedError) -> String {
        guard let text = json.string, isName(text) else {
            throw FeedError("'\(member)' is not a text of 1 to \(mostNameBytes) bytes without control characters")
        }
        return text
    }

    private static func roomName(_ json: JSONValue, _ member: String) throws(FeedError) -> RoomName {
        guard let room = json.string.flatMap({ RoomName($0) }) else {
            throw FeedError(
                "'\(member)' is not the name of a room: 1 to \(mostNameBytes) bytes without control characters, not blank"
            )
        }
        return room
    }

    static func read(
        _ payload: some Collection<UInt8>, bytes: Int, values: Int
    ) throws(FeedError) -> JSONValue {
        var limits = JSONLimits()
        limits.bytes = bytes
        limits.values = values
        limits.nesting = 8
        return try mapError({ FeedError("not JSON: \($0)") }) { () throws(JSONError) in
            try JSONValue(parsing: payload, limits: limits)
        }
    }
}
