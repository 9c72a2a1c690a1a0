/// One command, for `--help` and for parsing.
struct CommandSpecification {
    let name: String
    /// The operands, as the usage line shows them.
    let operands: String
    /// The words that may follow an action: `list` and `add` after `tags`.
    let words: [(action: String, words: [String])]
    let summary: String
    let options: [OptionSpecification]
    /// Complete command lines, each with a description.
    let examples: [(line: String, what: String)]

    init(
        _ name: String, operands: String = "", words: [(action: String, words: [String])] = [], _ summary: String,
        options: [OptionSpecification] = [], examples: [(line: String, what: String)] = []
    ) {
        self.name = name
        self.operands = operands
        self.words = words
        self.summary = summary
        self.options = options
        self.examples = examples
    }

    /// The options of every command. They may precede or follow its name.
    static let globalOptions = [
        OptionSpecification("config", "FILE", "configuration file (default /etc/ibeacon-gateway/config.json)"),
        OptionSpecification("state-dir", "DIR", "state directory (default /var/lib/ibeacon-gateway)"),
        OptionSpecification("json", nil, "print JSON instead of tables"),
        OptionSpecification("verbose", nil, "show more details"),
        OptionSpecification("quiet", nil, "show only problems"),
        OptionSpecification("help", nil, "show help"),
        OptionSpecification("version", nil, "show the version"),
    ]
}
