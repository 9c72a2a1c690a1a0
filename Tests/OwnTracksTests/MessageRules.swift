import JSON
import OwnTracks

/// The rules of the message set, as reference section 1 has them: which members a message must have,
/// of which type and range, and what it may have besides. A gateway's message has no other member.
struct MessageRules {
    enum Kind {
        case word([String])
        case text
        case texts
        case degrees(Double)
        /// A whole number in a range, and a JSON number, not a string of digits.
        case whole(ClosedRange<Int64>)
        case object
        case waypoints
    }

    struct Member {
        let name: String
        let kind: Kind
        let isRequired: Bool
        let source: String
    }

    /// Seconds: a value in milliseconds falls out of it (owntracks.md 8, "wtst in wrong unit").
    static let epoch = Kind.whole(0...99_999_999_999)
    static let latitude = Member(name: "lat", kind: .degrees(90), isRequired: true, source: "1.1, decision 10")
    static let longitude = Member(name: "lon", kind: .degrees(180), isRequired: true, source: "1.1, decision 10")
    static let accuracy = Member(name: "acc", kind: .whole(1...1_000_000), isRequired: true, source: "decision 9")
    static let time = Member(name: "tst", kind: epoch, isRequired: true, source: "1, integers in seconds")
    static let created = Member(name: "created_at", kind: epoch, isRequired: false, source: "1.1, decision 8")
    static let tracker = Member(name: "tid", kind: .text, isRequired: true, source: "1.1 tid")

    static func type(_ name: String) -> Member {
        Member(name: "_type", kind: .word([name]), isRequired: true, source: "1, _type")
    }

    static let members: [String: [Member]] = [
        "transition": [
            type("transition"), latitude, longitude, accuracy, time, created, tracker,
            Member(name: "event", kind: .word(["enter", "leave"]), isRequired: true, source: "1.1 event"),
            Member(name: "desc", kind: .text, isRequired: true, source: "1.1 desc"),
            Member(name: "wtst", kind: epoch, isRequired: true, source: "1.1 wtst"),
            Member(name: "rid", kind: .text, isRequired: true, source: "decision 11"),
            Member(name: "t", kind: .word(["b"]), isRequired: true, source: "decision 27"),
        ],
        "location": [
            type("location"), latitude, longitude, accuracy, time, created, tracker,
            Member(name: "t", kind: .word(["b", "r", "p", "u"]), isRequired: true, source: "1.2 triggers"),
            Member(name: "inregions", kind: .texts, isRequired: true, source: "Regions page, In regions"),
            Member(name: "inrids", kind: .texts, isRequired: true, source: "Regions page, In regions"),
            Member(name: "tag", kind: .text, isRequired: false, source: "Location page, Tags and POI"),
            Member(name: "poi", kind: .text, isRequired: false, source: "Location page, Tags and POI"),
        ],
        "beacon": [
            type("beacon"), time, tracker,
            Member(name: "uuid", kind: .text, isRequired: true, source: "1.3 uuid"),
            Member(name: "major", kind: .whole(0...65_535), isRequired: true, source: "1.3 major"),
            Member(name: "minor", kind: .whole(0...65_535), isRequired: true, source: "1.3 minor"),
            Member(name: "acc", kind: .whole(0...1_000_000), isRequired: true, source: "1.3 acc"),
            Member(name: "rssi", kind: .whole(-127...20), isRequired: true, source: "1.3 rssi"),
            Member(name: "prox", kind: .whole(1...3), isRequired: true, source: "1.3 prox"),
            Member(name: "desc", kind: .text, isRequired: false, source: "1.3 desc"),
        ],
        "waypoint": [
            type("waypoint"), latitude, longitude, time,
            Member(name: "desc", kind: .text, isRequired: true, source: "1.4"),
            Member(name: "rad", kind: .whole(-1_000_000...1_000_000), isRequired: true, source: "1.4"),
            Member(name: "rid", kind: .text, isRequired: true, source: "1.4"),
            Member(name: "wtst", kind: epoch, isRequired: true, source: "1.4 wtst"),
        ],
        "waypoints": [
            type("waypoints"),
            Member(name: "waypoints", kind: .waypoints, isRequired: true, source: "1.4"),
        ],
        "lwt": [type("lwt"), time],
        "status": [type("status"), Member(name: "gateway", kind: .object, isRequired: true, source: "decision 20")],
        "dump": [type("dump"), Member(name: "configuration", kind: .object, isRequired: true, source: "decision 16")],
        "card": [
            type("card"), tracker,
            Member(name: "name", kind: .text, isRequired: false, source: "1.6"),
            Member(name: "face", kind: .text, isRequired: false, source: "1.6"),
        ],
        "encrypted": [type("encrypted"), Member(name: "data", kind: .text, isRequired: true, source: "4")],
    ]

    /// Everything in a payload that breaks a rule; empty for a good message.
    static func violations(_ payload: [UInt8]) -> [String] {
        guard let json = try? JSONValue(parsing: payload) else { return ["it is no JSON"] }
        guard !payload.contains(UInt8(ascii: "\n")) else { return ["it has more than one line"] }
        return violations(json)
    }

    private static func violations(_ json: JSONValue) -> [String] {
        guard let object = json.object, let type = object["_type"]?.string, let rules = members[type] else {
            return ["it is no message of a known _type"]
        }
        var violations = object.keys.filter { name in !rules.contains { $0.name == name } }.map { "\($0) is unknown" }
        for rule in rules {
            guard let value = object[rule.name] else {
                if rule.isRequired { violations.append("\(rule.name) is missing (\(rule.source))") }
                continue
            }
            if !fits(value, rule.kind) { violations.append("\(rule.name) is \(value.text) (\(rule.source))") }
        }
        return violations
    }

    private static func fits(_ value: JSONValue, _ kind: Kind) -> Bool {
        switch (kind, value) {
        case (.word(let words), .string(let text)): words.contains(text)
        case (.text, .string(let text)): !text.isEmpty
        case (.texts, .array(let elements)): elements.allSatisfy { $0.string != nil }
        case (.degrees(let limit), .integer(let number)): abs(Double(number)) <= limit
        case (.degrees(let limit), .number(let number)):
            abs(number) <= limit && (number * 1e6).rounded() / 1e6 == number
        case (.whole(let range), .integer(let number)): range.contains(number)
        case (.object, .object): true
        case (.waypoints, .array(let elements)): elements.allSatisfy { violations($0).isEmpty }
        default: false
        }
    }
}
