import Base
import JSON

/// A beacon that was given a name at setup.
struct NamedBeacon: Equatable {
    /// What people call it, such as `Anna's keys`.
    let name: String
    /// `UUID[:MAJOR[:MINOR]]`, or the description of an identity.
    let beacon: String
    /// Whether it goes where a person goes. Then it is a tracker of its own, whose region is the home.
    let isPersons: Bool

    /// The region that such a tracker enters and leaves: Home Assistant and the apps know the zone of this name.
    static let homeName = "Home"

    /// The description of its region.
    var description: String { "\(isPersons ? Self.homeName : name):\(beacon)" }

    /// The members of the configuration for the trackers of beacons that persons carry.
    ///
    /// - Parameter gateway: The device of the gateway itself.
    static func trackers(of persons: [Self], besides gateway: String) -> [JSONValue] {
        var devices: Set = [gateway]
        return persons.map { beacon in
            [
                "deviceId": .string(beacon.deviceID(besides: &devices)), "tid": .string(beacon.trackerID),
                "name": .string(beacon.name),
            ]
        }
    }

    /// The device of its tracker.
    ///
    /// - Parameter taken: The devices that exist; this one is added.
    func deviceID(besides taken: inout Set<String>) -> String {
        let base = Self.topicLevel(of: name) ?? "tag"
        var (device, number) = (base, 2)
        while !taken.insert(device).inserted {
            device = "\(base)-\(number)"
            number += 1
        }
        return device
    }

    /// Two characters for maps: the initials of two words, or the beginning of one.
    var trackerID: String {
        let words = name.split(separator: " ").map { $0.filter { $0.isASCII && ($0.isLetter || $0.isNumber) } }
            .filter { !$0.isEmpty }
        let letters =
            words.count > 1
            ? words.prefix(2).map { String($0.prefix(1)) }.joined() : String(words.first?.prefix(2) ?? "")
        return letters.isEmpty ? "TG" : letters.uppercased()
    }

    /// A name as a topic level: `Living room` becomes `living-room`, `Anna's keys` becomes `annas-keys`.
    ///
    /// - Returns: nil if the name has no letter and no digit.
    static func topicLevel(of name: String) -> String? {
        let plain = name.lowercased().filter { $0 != "'" && $0 != "\u{2019}" }
        let parts = plain.split { !($0.isLetter || $0.isNumber || $0 == "_") }
        return parts.isEmpty ? nil : parts.joined(separator: "-")
    }
}
