import Base
import JSON
import YAML

/// What a configuration of room-assistant becomes here, and what it does not become.
///
/// The members are those of room-assistant 2.20.0 (`src/**/*.config.ts`). A password is in `password` and in no finding.
struct RoomAssistantFile {
    var report = RoomAssistantReport()
    var room: String?
    var broker: RoomAssistantBroker?
    var username: String?
    var password: Secret?
    /// Whether the section `homeAssistant` says something about the broker.
    var usesBrokerOfHomeAssistant = false
    /// Descriptions of the tags, for the rooms service.
    var tags: [String] = []
    /// Descriptions of tags that are no iBeacons: a gateway listens for them only if it has a region.
    var addresses: [String] = []

    var findings: [RoomAssistantReport.Finding] { report.findings }
    var settings: [(name: String, value: JSONValue)] { report.settings }

    /// - Throws: If the text is no YAML, or no configuration at all.
    init(_ bytes: [UInt8]) throws(YAMLError) {
        guard let document = try YAMLReader.read(bytes), !document.isNull else {
            throw YAMLError(line: 0, reason: "it is empty")
        }
        guard let sections = document.mapping else {
            throw YAMLError(
                line: document.line, reason: "it is not a configuration of room-assistant: it has no sections")
        }
        guard sections.contains(where: { Self.sections.contains($0.key) || Self.lostSections[$0.key] != nil }) else {
            throw YAMLError(
                line: document.line,
                reason:
                    "it is not a configuration of room-assistant: global, homeAssistant, bluetoothLowEnergy and the "
                    + "other sections are missing")
        }
        // The login of `mqtt` is used if `homeAssistant` has no broker, so the order of the file must not matter.
        for section in sections.sorted(by: { Self.rank($0.key) < Self.rank($1.key) }) { read(section) }
        report.sort()
    }

    private static func rank(_ section: String) -> Int { section == "mqtt" ? 1 : 0 }

    /// Sections whose members are translated.
    private static let sections: Set = ["global", "homeAssistant", "mqtt", "bluetoothLowEnergy"]

    /// Whole sections, with what to say about them.
    private static let lostSections: [String: (RoomAssistantReport.Finding.Verdict, String)] = [
        "cluster": (.needless, "the gateways need not know each other; one rooms service decides"),
        "entities": (.lost, "there is no debounce or average of entities; the rooms service has its own rule"),
        "logger": (.lost, "the log goes to the journal"),
        "bluetoothClassic": (.lost, "devices are heard, and not asked; a phone: phones add"),
        "gpio": (.lost, "no sensors or switches besides Bluetooth"),
        "shell": (.lost, "no commands are run"),
        "gridEye": (.lost, "no thermal sensors"),
        "omronD6t": (.lost, "no thermal sensors"),
        "xiaomiMi": (.lost, "no sensors of temperature or plants"),
    ]

    private mutating func read(_ section: YAMLNode.Member) {
        if let (verdict, text) = Self.lostSections[section.key] {
            return report.add(verdict, section.key, section.value.line, text)
        }
        guard Self.sections.contains(section.key) else {
            return report.add(.lost, section.key, section.value.line, "room-assistant has no such section")
        }
        guard let members = section.value.mapping else {
            guard !section.value.isNull else { return }
            return report.add(.lost, section.key, section.value.line, "it has no members")
        }
        guard section.key != "bluetoothLowEnergy" else {
            let read = RoomAssistantTags(members)
            tags += read.descriptions
            addresses += read.addresses
            return report.join(read.report)
        }
        for member in members {
            let path = "\(section.key).\(member.key.shortened)"
            switch section.key {
            case "global": readGlobal(member, path)
            case "homeAssistant": readHomeAssistant(member, path)
            default: readMQTT(member, path)
            }
        }
    }
}
