import JSON
import OwnTracks

/// One thing that `doctor` looked at.
struct DoctorFinding {
    /// What it is about, in the order in which it is looked at.
    enum Area: String, CaseIterable {
        case configuration, service, radio, bluetoothd, broker, rooms, clock, regions, disk
    }

    let area: Area
    /// What was found, in a sentence.
    let text: String
    /// What to do; nil where all is well.
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

    /// `ok  broker  …`, and the cure on a line of its own.
    var lines: [String] {
        let width = Area.allCases.map(\.rawValue.count).max() ?? 0
        let name = area.rawValue + String(repeating: " ", count: width - area.rawValue.count)
        let head = "\(isWell ? "ok " : "BAD")  \(name)  \(Terminal.printable(text))"
        guard let cure else { return [head] }
        return [head, String(repeating: " ", count: 5 + width + 2) + "-> " + Terminal.printable(cure)]
    }
}
