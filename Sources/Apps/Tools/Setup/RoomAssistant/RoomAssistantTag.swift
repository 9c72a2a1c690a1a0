import Beacon
import Identities

/// What an entry of `allowlist` means: an id, or a regular expression of which a pattern can be made.
enum RoomAssistantTag: Hashable {
    /// `uuid-major-minor`; nil is any, in a pattern.
    case beacon(BeaconUUID, major: UInt16?, minor: UInt16?)
    /// A device address without its colons.
    case address(Identity)
    /// A UUID alone, which the companion app for iOS shows.
    case app

    /// - Parameter isPattern: Whether it is a regular expression.
    init?(_ text: String, isPattern: Bool) {
        guard isPattern else {
            self.init(id: text)
            return
        }
        var text = text[...]
        if text.hasPrefix("^") { text = text.dropFirst() }
        let isComplete = text.hasSuffix("$")
        if isComplete { text = text.dropLast() }
        let anything = [".*", ".+", "\\d+", "[0-9]+", "\\d*"]
        var numbers: [Substring] = []
        // Dashes within the UUID are no part of an id of room-assistant.
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count), let uuid = BeaconUUID(parts[0]) ?? Self.uuid(beforeAny: parts[0]) else {
            return nil
        }
        for part in parts.dropFirst() where !anything.contains(String(part)) && !part.isEmpty { numbers.append(part) }
        guard numbers.allSatisfy({ UInt16($0) != nil }) else { return nil }
        switch (parts.count, numbers.count) {
        case (1, 0), (2, 0), (3, 0): self = .beacon(uuid, major: nil, minor: nil)
        // `uuid-1` without an end would also match the major 12.
        case (3, 1) where parts[1] == numbers[0]: self = .beacon(uuid, major: UInt16(numbers[0]), minor: nil)
        case (3, 1) where isComplete: self = .beacon(uuid, major: nil, minor: UInt16(numbers[0]))
        case (3, 2) where isComplete: self = .beacon(uuid, major: UInt16(numbers[0]), minor: UInt16(numbers[1]))
        default: return nil
        }
    }

    /// `uuid.*`
    private static func uuid(beforeAny text: Substring) -> BeaconUUID? {
        text.hasSuffix(".*") || text.hasSuffix(".+") ? BeaconUUID(text.dropLast(2)) : nil
    }

    private init?(id text: String) {
        if BeaconUUID(text) != nil {
            self = .app
            return
        }
        let octets = text.filter { $0 != ":" }
        if octets.utf8.count == 12, let identity = Identity("mac:\(octets)") {
            self = .address(identity)
            return
        }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count > 2, let major = UInt16(parts[parts.count - 2]), let minor = UInt16(parts[parts.count - 1]),
            let uuid = BeaconUUID(parts.dropLast(2).joined(separator: "-"))
        else { return nil }
        self = .beacon(uuid, major: major, minor: minor)
    }

    /// The part of a description behind the name.
    var description: String {
        switch self {
        case .beacon(let uuid, let major, let minor):
            switch (major, minor) {
            case (nil, nil): "\(uuid)"
            case (let major?, nil): "\(uuid):\(major)"
            case (let major, let minor?): "\(uuid):\(major ?? 0):\(minor)"
            }
        case .address(let identity): identity.text
        case .app: ""
        }
    }

    /// Whether a number is 0, which means any number in a description.
    var hasZero: Bool {
        if case .beacon(_, let major, let minor) = self { major == 0 || minor == 0 } else { false }
    }

    /// A name for a tag that has none.
    var standardName: String {
        switch self {
        case .beacon(_, nil, nil): "Tag"
        case .beacon(_, let major, let minor):
            "Tag " + [major, minor].compactMap { $0.map { "\($0)" } }.joined(separator: "-")
        case .address(let identity): "Tag \(identity.text.suffix(5).filter { $0 != ":" })"
        case .app: "Phone"
        }
    }
}
