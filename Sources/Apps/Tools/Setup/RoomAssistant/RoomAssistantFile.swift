import Base
import Configuration
import JSON
import YAML

/// What a configuration of room-assistant becomes here, and what it does not become.
///
/// The members are those of room-assistant 2.20.0 (`src/**/*.config.ts`). A password is in `password` and in no finding.
struct RoomAssistantFile {
    /// What happens to a member of the file.
    struct Finding: Equatable {
        enum Verdict: CaseIterable {
            /// It is in the new configuration.
            case translated
            /// The program does by itself what the member was for.
            case needless
            /// Something is lost. The text says what to do.
            case lost
        }

        let verdict: Verdict
        /// Its path, such as `bluetoothLowEnergy.allowlist[2]`.
        let member: String
        /// From 1.
        let line: Int
        let text: String
    }

    private(set) var findings: [Finding] = []
    var room: String?
    var broker: RoomAssistantBroker?
    var username: String?
    var password: Secret?
    /// Whether the section `homeAssistant` says something about the broker.
    var usesBrokerOfHomeAssistant = false
    /// Further members of the configuration, each of which was checked.
    private(set) var settings: [(name: String, value: JSONValue)] = []
    /// Descriptions of the tags, for the rooms service.
    var tags: [String] = []
    /// Descriptions of tags that are no iBeacons: a gateway listens for them only if it has a region.
    var addresses: [String] = []

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
        findings.sort { $0.line < $1.line }
    }

    private static func rank(_ section: String) -> Int { section == "mqtt" ? 1 : 0 }

    /// Sections of which members are translated.
    private static let sections: Set = ["global", "homeAssistant", "mqtt", "bluetoothLowEnergy"]

    /// Sections as a whole, with what to say of them.
    private static let lostSections: [String: (Finding.Verdict, String)] = [
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
            return add(verdict, section.key, section.value.line, text)
        }
        guard Self.sections.contains(section.key) else {
            return add(.lost, section.key, section.value.line, "room-assistant has no such section")
        }
        guard let members = section.value.mapping else {
            guard !section.value.isNull else { return }
            return add(.lost, section.key, section.value.line, "it has no members")
        }
        guard section.key != "bluetoothLowEnergy" else { return readTags(members) }
        for member in members {
            let path = "\(section.key).\(member.key.shortened)"
            switch section.key {
            case "global": readGlobal(member, path)
            case "homeAssistant": readHomeAssistant(member, path)
            default: readMQTT(member, path)
            }
        }
    }

    mutating func add(_ verdict: Finding.Verdict, _ member: String, _ line: Int, _ text: String) {
        findings.append(Finding(verdict: verdict, member: member, line: line, text: text))
    }

    /// Takes a member into the new configuration, if that accepts it.
    ///
    /// - Returns: Whether it does.
    @discardableResult
    mutating func set(_ name: String, _ value: JSONValue, for member: String, _ line: Int) -> Bool {
        if let problem = Self.problem(of: name, value) {
            add(.lost, member, line, problem)
            return false
        }
        settings.removeAll { $0.name == name }
        settings.append((name, value))
        add(.translated, member, line, "\(name): \(value.text)")
        return true
    }

    /// What the configuration says against a member, in one line.
    static func problem(of name: String, _ value: JSONValue) -> String? {
        do throws(ConfigurationError) {
            _ = try Configuration(["_type": "configuration", name: value], hostName: "localhost")
            return nil
        } catch {
            return error.problems.first.map { "\($0)" }
        }
    }
}
