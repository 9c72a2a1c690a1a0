import JSON
import OwnTracks

/// The result of one check of `doctor`.
struct DoctorFinding {
    /// The areas, in the order of the checks.
    enum Area: String, CaseIterable {
        case configuration, service, radio, bluetoothd, broker, rooms, clock, regions, disk
    }

    let area: Area
    /// The finding in a sentence.
    let text: String
    /// What the user can do; nil if all is well.
    let cure: String?

    init(_ area: Area, _ text: String, cure: String? = nil) {
        self.area = area
        self.text = text
        self.cure = cure
    }

    var isWell: Bool { cure == nil }

    var json: JSONValue {
        var members: [String: JSONValue] = [
            "about": .string(area.rawValue), "ok": .bool(isWell), "text": .string(text),
        ]
        if let cure { members["cure"] = .string(cure) }
        return .object(members)
    }

    /// `ok  broker  …`, and the cure on a separate line.
    var lines: [String] {
        let width = Area.allCases.map(\.rawValue.count).max() ?? 0
        let name = area.rawValue + String(repeating: " ", count: width - area.rawValue.count)
        let head = "\(isWell ? "ok " : "BAD")  \(name)  \(Terminal.printable(text))"
        guard let cure else { return [head] }
        return [head, String(repeating: " ", count: 5 + width + 2) + "-> " + Terminal.printable(cure)]
    }
}
