import Base
import System

/// `completion`: scripts with which a shell completes this program's words, made from the same data as `--help`.
enum CompletionCommand {
    static let specification = CommandSpecification(
        "completion", operands: "bash | zsh | fish", "print a completion script for a shell",
        examples: [
            (
                "ibeacon-gateway completion bash > ~/.local/share/bash-completion/completions/ibeacon-gateway",
                "for bash"
            ),
            ("ibeacon-gateway completion fish > ~/.config/fish/completions/ibeacon-gateway.fish", "for fish"),
        ])

    static func run(_ arguments: Arguments) throws -> ExitCode {
        let shells = ["bash", "zsh", "fish"]
        guard let shell = arguments.operands.first, arguments.operands.count == 1 else {
            throw Failure(.usage, "name the shell: \(shells.joined(separator: ", "))")
        }
        let commands = Subcommand.all.map(\.specification)
        switch shell {
        case "bash": Terminal.print(BashCompletion.script(commands))
        case "zsh": Terminal.print(ZshCompletion.script(commands))
        case "fish": Terminal.print(FishCompletion.script(commands))
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
        let others = Set(options.filter { $0.argument != nil && !$0.takesPath }.map { "--" + $0.name }).sorted()
        var lines = [
            "# Completion of ibeacon-gateway for bash. Made by: ibeacon-gateway completion bash",
            "_ibeacon_gateway() {",
            "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= action= index=1",
            "    COMPREPLY=()",
            "    case $before in",
            "        \(paths.joined(separator: " | "))) compopt -o default; return ;;",
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
        for command in commands {
            let options = command.everyOption.map { "--" + $0.name }
            for (action, words) in command.words {
                let all = (words + options).joined(separator: " ")
                lines.append("        \(command.name):\(action)) words='\(all)' ;;")
            }
            lines.append(
                "        \(command.name):*) words='\((command.actions + options).joined(separator: " "))' ;;")
        }
        lines += [
            "    esac",
            "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")",
            "    [ ${#COMPREPLY[@]} -gt 0 ] || compopt -o default",
            "}",
            "complete -F _ibeacon_gateway ibeacon-gateway",
        ]
        return lines.joined(separator: "\n")
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
        lines += commands.map { "        \(quoted("\($0.name):\($0.summary)"))" }
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
        guard !command.words.isEmpty else { return "" }
        let cases = command.words.map { "\($0.action)) compadd \($0.words.joined(separator: " "));;" }
        return " '2: :{case $words[2] in \(cases.joined(separator: " ")) *) _files;; esac}'"
    }

    private static func option(_ option: OptionSpecification) -> String {
        let help = option.help.map { "[]:".contains($0) ? "\\\($0)" : "\($0)" }.joined()
        let argument = option.argument.map { ":\($0):\(option.takesPath ? "_files" : " ")" } ?? ""
        return quoted("--\(option.name)\(option.argument == nil ? "" : "=")[\(help)]\(argument)")
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}

/// For fish.
private enum FishCompletion {
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
            lines += command.options.map { "complete -c ibeacon-gateway \(inside) \(option($0))" }
            if command.actions.isEmpty, !command.operands.isEmpty {
                lines.append("complete -c ibeacon-gateway \(inside) -F")
            }
        }
        return lines.joined(separator: "\n")
    }

    private static func option(_ option: OptionSpecification) -> String {
        let argument = option.argument == nil ? "" : option.takesPath ? " -r -F" : " -x"
        return "-l \(option.name)\(argument) -d \(quoted(option.help))"
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.map { $0 == "'" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined() + "'"
    }
}
