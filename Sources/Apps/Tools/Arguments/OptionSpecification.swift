/// One option of a command.
struct OptionSpecification {
    let name: String
    /// The name of its argument; nil if the option takes none.
    let argument: String?
    let help: String
    /// The actions of the command that have the option, as the words that follow the command; empty: all.
    let actions: [String]
    /// What it means with each of these actions.
    private let meanings: [(action: String, help: String)]

    init(_ name: String, _ argument: String? = nil, _ help: String) {
        (self.name, self.argument, self.help, actions, meanings) = (name, argument, help, [], [])
    }

    /// An option that only some actions of a command have, with its meaning for each.
    init(_ name: String, _ argument: String? = nil, with meanings: [(action: String, help: String)]) {
        self.name = name
        self.argument = argument
        help = meanings.map { "with \($0.action): \($0.help)" }.joined(separator: "; ")
        actions = meanings.map(\.action)
        self.meanings = meanings
    }

    /// What it means with an action; nil if the action does not have it.
    func help(with action: String) -> String? {
        let own = meanings.filter { $0.action == action || $0.action.hasPrefix(action + " ") }
        if actions.isEmpty { return help }
        return own.isEmpty ? nil : own.count == 1 && own[0].action == action ? own[0].help : help
    }

    /// Whether the argument is the path of a file or a directory.
    var takesPath: Bool { argument == "FILE" || argument == "DIR" }

    /// Whether the argument is the name or the key of a region.
    var takesRegion: Bool { argument == "REGION" }

    /// Whether the option may stand beside these operands.
    func belongs(to operands: [String]) -> Bool {
        actions.isEmpty
            || actions.contains { action in
                let words = action.split(separator: " ")
                return words.count <= operands.count && zip(words, operands).allSatisfy { $0 == $1 }
            }
    }
}
