import JSON

/// The result of one check of `doctor`.
struct DoctorFinding {
    /// The areas, in the order of the checks.
    enum Area: String, CaseIterable {
        case configuration, service, radio, bluetoothd, broker, server, rooms, proxy, clock, regions, disk
    }

    let area: Area
    /// The finding in a sentence.
    let text: String
    /// What the user can do; nil if all is well.
    let remedy: String?
    /// What the user can do although all is well.
    let advice: String?

    init(_ area: Area, _ text: String, remedy: String? = nil, advice: String? = nil) {
        self.area = area
        self.text = text
        self.remedy = remedy
        self.advice = advice
    }

    var isWell: Bool { remedy == nil }

    var json: JSONValue {
        var members: [String: JSONValue] = [
            "about": .string(area.rawValue), "ok": .bool(isWell), "text": .string(text),
        ]
        if let remedy { members["cure"] = .string(remedy) }
        if let advice { members["advice"] = .string(advice) }
        return .object(members)
    }

    /// `ok  broker  …`, and the remedy or the advice on a separate line.
    var lines: [String] {
        let width = Area.allCases.map(\.rawValue.count).max() ?? 0
        let name = area.rawValue + String(repeating: " ", count: width - area.rawValue.count)
        // A text may have several lines, such as the mistakes of a file.
        let parts = text.split(separator: "\n").map { Terminal.printable(String($0)) }
        let margin = String(repeating: " ", count: 5 + width + 2)
        var lines = ["\(isWell ? "ok " : "BAD")  \(name)  \(parts.first ?? "")"] + parts.dropFirst().map { margin + $0 }
        if let remark = remedy ?? advice { lines.append(margin + "-> " + Terminal.printable(remark)) }
        return lines
    }
}
