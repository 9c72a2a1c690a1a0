import Configuration
import JSON

/// What became of each member of a configuration of room-assistant.
struct RoomAssistantReport {
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
    /// Members of the new configuration, each of which was checked.
    private(set) var settings: [(name: String, value: JSONValue)] = []

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
        replace(name, value)
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

    private mutating func replace(_ name: String, _ value: JSONValue) {
        settings.removeAll { $0.name == name }
        settings.append((name, value))
    }

    /// Adds what was found in another part of the file.
    mutating func join(_ other: RoomAssistantReport) {
        findings += other.findings
        for (name, value) in other.settings { replace(name, value) }
    }

    /// In the order of the lines.
    mutating func sort() { findings.sort { $0.line < $1.line } }
}
