import Base

/// The output of `--help`.
enum HelpText {
    /// The page of the whole program.
    static func overview(_ commands: [CommandSpecification]) -> String {
        var lines = [
            "Receives iBeacons and publishes over MQTT, in OwnTracks' format, which regions are entered and left.",
            "",
            "usage: ibeacon-gateway [OPTIONS] COMMAND [OPTIONS] …",
            "",
            "Commands:",
        ]
        lines += table(commands.map { ($0.name, $0.summary) })
        lines += ["", "Options, with every command:"]
        lines += table(CommandSpecification.globalOptions.map(row))
        lines += ["", "'ibeacon-gateway COMMAND --help' shows a command's own options and examples."]
        return lines.joined(separator: "\n")
    }

    /// The page of a command, or of its action if the first operand is one.
    static func page(_ command: CommandSpecification, operands: [String]) -> String {
        guard let action = operands.first else { return page(command) }
        let usages = command.operands.split(separator: "|").map { $0.split(separator: " ") }
        guard usages.count > 1,
            let usage = usages.first(where: { $0.first == Substring(action) })?.joined(separator: " ")
        else { return page(command) }
        let options = command.options.compactMap { option in
            option.help(with: action).map { (row(option).0, $0) }
        }
        let words = "\(command.name) \(action)"
        let examples = command.examples.filter { " \($0.line) ".hasPart(" ibeacon-gateway \(words) ") }
        var lines = [command.summary, ""]
        lines.append("usage: ibeacon-gateway \(command.name)\(options.isEmpty ? "" : " [OPTIONS]") \(usage)")
        if !options.isEmpty { lines += ["", "Options:"] + table(options) }
        if !examples.isEmpty { lines += ["", "Examples:"] + shown(examples) }
        return (lines + ["", "'ibeacon-gateway \(command.name) --help' shows all actions."]).joined(separator: "\n")
    }

    private static func shown(_ examples: [(line: String, what: String)]) -> [String] {
        examples.flatMap { ["  \($0.line)", "      \($0.what)"] }
    }

    /// The page of one command.
    static func page(_ command: CommandSpecification) -> String {
        let options = command.options.isEmpty ? "" : " [OPTIONS]"
        let operands = command.operands.isEmpty ? "" : " \(command.operands)"
        var lines = [command.summary, "", "usage: ibeacon-gateway \(command.name)\(options)\(operands)"]
        if !command.options.isEmpty {
            lines += ["", "Options:"] + table(command.options.map(row))
        }
        if !command.examples.isEmpty {
            lines += ["", "Examples:"] + shown(command.examples)
        }
        return lines.joined(separator: "\n")
    }

    private static func row(_ option: OptionSpecification) -> (String, String) {
        ("--" + option.name + (option.argument.map { " " + $0 } ?? ""), option.help)
    }

    private static func table(_ rows: [(String, String)]) -> [String] {
        let width = (rows.map(\.0.count).max() ?? 0) + 2
        return rows.map { "  " + $0.0 + String(repeating: " ", count: width - $0.0.count) + $0.1 }
    }
}
