import Base
import System

/// `completion`: scripts with which a shell completes this program's words, made from the same data as `--help`.
enum CompletionCommand {
    static let specification = CommandSpecification(
        "completion", operands: "bash | zsh | fish | names",
        "print a completion script for a shell, or the names of regions that it offers",
        examples: [
            (
                "ibeacon-gateway completion bash > ~/.local/share/bash-completion/completions/ibeacon-gateway",
                "for bash"
            ),
            ("ibeacon-gateway completion fish > ~/.config/fish/completions/ibeacon-gateway.fish", "for fish"),
        ])

    static func run(_ arguments: Arguments) throws -> ExitCode {
        let shells = ["bash", "zsh", "fish", CompletedNames.word]
        guard let shell = arguments.operands.first, arguments.operands.count == 1 else {
            throw Failure(.usage, "name the shell: \(shells.joined(separator: ", "))")
        }
        let commands = Subcommand.all.map(\.specification)
        switch shell {
        case "bash": Terminal.print(BashCompletion.script(commands))
        case "zsh": Terminal.print(ZshCompletion.script(commands))
        case "fish": Terminal.print(FishCompletion.script(commands))
        case CompletedNames.word: CompletedNames.list(arguments)
        default:
            throw Failure(.usage, "unknown shell '\(shell)'\(hint(for: shell, among: shells))")
        }
        return .ok
    }
}

extension CommandSpecification {
    /// The words that may follow the command's name: `list` and `add` of `list | add DESCRIPTION`.
    var actions: [String] {
        operands.split(separator: "|").compactMap { alternative in
            guard let word = alternative.split(separator: " ").first, word.allSatisfy({ $0.isLowercase }) else {
                return nil
            }
            return String(word)
        }
    }

    /// Those of them after which a region is named.
    var regionActions: [String] {
        operands.split(separator: "|").compactMap { alternative in
            let words = alternative.split(separator: " ")
            return words.count == 2 && words[1] == "RID" ? String(words[0]) : nil
        }
    }

    /// The command's own options and the global options.
    var everyOption: [OptionSpecification] { options + Self.globalOptions }
}

/// For bash, with or without the package bash-completion.
private enum BashCompletion {
    static func script(_ commands: [CommandSpecification]) -> String {
        let names = commands.map(\.name).joined(separator: " ")
        let global = CommandSpecification.globalOptions.map { "--" + $0.name }.joined(separator: " ")
        let options = commands.flatMap(\.everyOption)
        let paths = Set(options.filter(\.takesPath).map { "--" + $0.name }).sorted()
        let named = Set(options.filter(\.takesRegion).map { "--" + $0.name }).sorted()
        let special = Set(paths + named + ["--scanner"])
        let others = Set(options.filter { $0.argument != nil }.map { "--" + $0.name }).subtracting(special).sorted()
        var lines = [
            "# Completion of ibeacon-gateway for bash. Made by: ibeacon-gateway completion bash",
            // Names come from outside, so no shell may interpret them: `compgen -W` would.
            "_ibeacon_gateway_names() {",
            "    local name",
            "    while IFS= read -r name; do",
            "        [[ $name != \"$word\"* ]] || COMPREPLY+=(\"$(printf %q \"$name\")\")",
            "    done < <(ibeacon-gateway completion names 2>/dev/null)",
            "}",
            "_ibeacon_gateway() {",
            "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= action= index=1",
            "    COMPREPLY=()",
            "    case $before in",
            "        \(paths.joined(separator: " | "))) compopt -o default; return ;;",
            "        \(named.joined(separator: " | "))) _ibeacon_gateway_names; return ;;",
            "        --scanner) mapfile -t COMPREPLY < <(compgen -W '\(CompletedNames.scanners.joined(separator: " "))' -- \"$word\")",
            "            compopt -o default; return ;;",
        ]
        if !others.isEmpty { lines.append("        \(others.joined(separator: " | "))) return ;;") }
        lines += [
            "    esac",
            "    while [ $index -lt \"$COMP_CWORD\" ]; do",
            "        case ${COMP_WORDS[index]} in",
            "            --config | --state-dir) index=$((index + 1)) ;;",
            "            -*) ;;",
            "            *) command=${COMP_WORDS[index]}; break ;;",
            "        esac",
            "        index=$((index + 1))",
            "    done",
            "    [ $((index + 1)) -ge \"$COMP_CWORD\" ] || action=${COMP_WORDS[index+1]}",
            "    local words=",
            "    case $command:$action in",
            "        :*) words='\(names) \(global)' ;;",
        ]
        lines += commands.flatMap(cases)
        lines += [
            "    esac",
            "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")",
            "    [ ${#COMPREPLY[@]} -gt 0 ] || compopt -o default",
            "}",
            "complete -F _ibeacon_gateway ibeacon-gateway",
        ]
        return lines.joined(separator: "\n")
    }

    /// What may follow a command, for each of its actions.
    private static func cases(_ command: CommandSpecification) -> [String] {
        var lines: [String] = []
        let options = command.everyOption.map { "--" + $0.name }
        for action in command.regionActions {
            lines.append("        \(command.name):\(action)) words='\(options.joined(separator: " "))'")
            lines.append("            [[ $word == -* ]] || { _ibeacon_gateway_names; return; } ;;")
        }
        for (action, words) in command.words {
            let all = (words + options).joined(separator: " ")
            lines.append("        \(command.name):\(action)) words='\(all)' ;;")
        }
        lines.append(
            "        \(command.name):*) words='\((command.actions + options).joined(separator: " "))' ;;")
        return lines
    }
}

/// For zsh, as a function for a directory of its `fpath`.
private enum ZshCompletion {
    static func script(_ commands: [CommandSpecification]) -> String {
        var lines = [
            "#compdef ibeacon-gateway",
            "# Completion of ibeacon-gateway for zsh. Made by: ibeacon-gateway completion zsh",
            "local curcontext=$curcontext state line",
            "typeset -A opt_args",
            "_arguments -C \\",
        ]
        lines += CommandSpecification.globalOptions.map { "    \(option($0)) \\" }
        lines += [
            "    '1: :->command' \\", "    '*:: :->words'", "case $state in", "command)", "    local -a commands=(",
        ]
        lines += commands.map { "        \(ShellWord.quoted("\($0.name):\($0.summary)"))" }
        lines += ["    )", "    _describe command commands ;;", "words)", "    case $line[1] in"]
        for command in commands {
            lines.append("    \(command.name))")
            lines.append("        _arguments \\")
            lines += command.everyOption.map { "            \(option($0)) \\" }
            let actions = command.actions
            lines.append(
                actions.isEmpty
                    ? "            '*: :_files' ;;"
                    : "            '1: :(\(actions.joined(separator: " ")))'\(second(command)) '*: :_files' ;;")
        }
        lines += ["    esac ;;", "esac"]
        return lines.joined(separator: "\n")
    }

    /// The words after an action. `_arguments` runs the code in braces; there `words` begins with the command.
    private static func second(_ command: CommandSpecification) -> String {
        var cases = command.words.map { "\($0.action)) compadd \($0.words.joined(separator: " "));;" }
        cases += command.regionActions.map { "\($0)) \(names);;" }
        guard !cases.isEmpty else { return "" }
        return " '2: :{case $words[2] in \(cases.joined(separator: " ")) *) _files;; esac}'"
    }

    /// Offers the names of regions.
    private static let names = "compadd -- ${(f)\"$(ibeacon-gateway completion names 2>/dev/null)\"}"

    private static func option(_ option: OptionSpecification) -> String {
        let help = option.help.map { "[]:".contains($0) ? "\\\($0)" : "\($0)" }.joined()
        let argument = option.argument.map { ":\($0):\(argumentAction(option))" } ?? ""
        return ShellWord.quoted("--\(option.name)\(option.argument == nil ? "" : "=")[\(help)]\(argument)")
    }

    private static func argumentAction(_ option: OptionSpecification) -> String {
        if option.takesPath { return "_files" }
        if option.takesRegion { return "{\(names)}" }
        return option.name == "scanner" ? "(\(CompletedNames.scanners.joined(separator: " ")))" : " "
    }
}

/// For fish.
private enum FishCompletion {
    /// What prints the names of regions.
    private static let names = "(ibeacon-gateway completion names 2>/dev/null)"

    static func script(_ commands: [CommandSpecification]) -> String {
        let names = commands.map(\.name).joined(separator: " ")
        var lines = [
            "# Completion of ibeacon-gateway for fish. Made by: ibeacon-gateway completion fish",
            "complete -c ibeacon-gateway -f",
        ]
        lines += CommandSpecification.globalOptions.map { "complete -c ibeacon-gateway \(option($0))" }
        for command in commands {
            let inside = "-n '__fish_seen_subcommand_from \(command.name)'"
            lines.append(
                "complete -c ibeacon-gateway -n 'not __fish_seen_subcommand_from \(names)' "
                    + "-a \(command.name) -d \(quoted(command.summary))")
            let deeper = command.words.map(\.action).joined(separator: " ")
            let atAction =
                deeper.isEmpty
                ? inside
                : "-n '__fish_seen_subcommand_from \(command.name); and not __fish_seen_subcommand_from \(deeper)'"
            lines += command.actions.map { "complete -c ibeacon-gateway \(atAction) -a \($0)" }
            for (action, words) in command.words {
                lines.append(
                    "complete -c ibeacon-gateway -n '__fish_seen_subcommand_from \(command.name); "
                        + "and __fish_seen_subcommand_from \(action)' -a '\(words.joined(separator: " "))'")
            }
            for action in command.regionActions {
                lines.append(
                    "complete -c ibeacon-gateway -n '__fish_seen_subcommand_from \(command.name); "
                        + "and __fish_seen_subcommand_from \(action)' -a '\(names)'")
            }
            lines += command.options.map { "complete -c ibeacon-gateway \(inside) \(option($0))" }
            if command.actions.isEmpty, !command.operands.isEmpty {
                lines.append("complete -c ibeacon-gateway \(inside) -F")
            }
        }
        return lines.joined(separator: "\n")
    }

    private static func option(_ option: OptionSpecification) -> String {
        var argument = option.argument == nil ? "" : option.takesPath ? " -r -F" : " -x"
        if option.takesRegion { argument += " -a '\(names)'" }
        if option.name == "scanner" { argument += " -a '\(CompletedNames.scanners.joined(separator: " "))'" }
        return "-l \(option.name)\(argument) -d \(quoted(option.help))"
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.map { $0 == "'" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined() + "'"
    }
}
