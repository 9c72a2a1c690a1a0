import JSON
import Regions

extension Setting {
    /// `ConfigurationReader` reads `majorMinorBase` first, because waypoints depend on it.
    static let listening: [Setting] = [
        setting(
            "scanner", "\"auto\"", "The way to Bluetooth: \"auto\", \"mgmt\", \"hci\" or \"bluez\"; or a recording,",
            "{capture: \"FILE\", speed: 1}, played once in real time.",
            read: { if let scanner = $0.scanner() { $1.scanner = scanner } }, shown: { $0.scanner.json }),
        setting(
            "adapter", "\"all\"", "An adapter such as \"hci0\" or \"00:11:22:33:44:55\", or an array of these.",
            read: { if let adapters = $0.adapters() { $1.adapters = adapters } },
            shown: { $0.adapters.isEmpty ? "all" : .array($0.adapters.map { .string($0.description) }) }),
        setting(
            "scanDuty", "\"auto\"",
            "The share of the time in which the radio listens, 0.05 to 1; \"auto\" is 1. A smaller share",
            "leaves the antenna to the Wi-Fi that shares it, and leaves come later. Not with \"bluez\".",
            read: { reader, configuration in
                let share: Double?? = reader.read("scanDuty", "a number from 0.05 to 1, or 'auto'") { value in
                    if value == "auto" { return .some(nil) }
                    return value.asNumber.flatMap { (0.05...1).contains($0) ? .some($0) : nil }
                }
                if let share { configuration.scanDuty = share }
            },
            shown: { $0.scanDuty.map { .plain($0) } ?? "auto" }),
        setting(
            "majorMinorBase", "\"auto\"",
            "How numbers in descriptions are read: \"decimal\", \"hex\", or by their look."
        ) { .string($0.numberBase.rawValue) },
    ]
}

extension MemberReader {
    fileprivate mutating func scanner() -> ScannerChoice? {
        let allowed = "'auto', 'mgmt', 'hci', 'bluez' or {capture: FILE, speed: 1}"
        if value("scanner")?.object != nil {
            guard var inner = inner("scanner", allowed) else { return nil }
            let file = inner.text("capture")
            if file == nil, inner.problems.isEmpty { inner.complain("capture", "it is missing; name a recording") }
            let speed = inner.number("speed", 0.001...1_000_000) ?? 1
            inner.refuseUnknown(known: ["capture", "speed"])
            add(inner.problems)
            return .capture(file: file ?? "", speed: speed)
        }
        return read("scanner", allowed) {
            switch $0 {
            case "auto": .auto
            case "mgmt": .mgmt
            case "hci": .hci
            case "bluez": .bluez
            default: nil
            }
        }
    }

    fileprivate mutating func adapters() -> [AdapterName]? {
        read("adapter", "'all', an adapter such as hci0 or 00:11:22:33:44:55, or an array of these") {
            switch $0 {
            case "all": return []
            case .array(let elements):
                let names = elements.compactMap { $0.string.flatMap { AdapterName($0) } }
                return names.count == elements.count ? names : nil
            default: return $0.string.flatMap { AdapterName($0) }.map { [$0] }
            }
        }
    }
}

extension ScannerChoice {
    fileprivate var json: JSONValue {
        switch self {
        case .auto: "auto"
        case .mgmt: "mgmt"
        case .hci: "hci"
        case .bluez: "bluez"
        case .capture(let file, let speed): ["capture": .string(file), "speed": .plain(speed)]
        }
    }
}
