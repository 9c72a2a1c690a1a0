/// One option of a command.
struct OptionSpecification {
    let name: String
    /// What its argument stands for; nil if it takes none.
    let argument: String?
    let help: String

    init(_ name: String, _ argument: String? = nil, _ help: String) {
        self.name = name
        self.argument = argument
        self.help = help
    }
}

/// One command as `--help` shows it and as its words are read.
struct CommandSpecification {
    let name: String
    /// What follows the options, as the usage line shows it.
    let operands: String
    let summary: String
    let options: [OptionSpecification]
    /// Command lines that work as they stand, each with what it does.
    let examples: [(line: String, what: String)]

    init(
        _ name: String, operands: String = "", _ summary: String, options: [OptionSpecification] = [],
        examples: [(line: String, what: String)] = []
    ) {
        self.name = name
        self.operands = operands
        self.summary = summary
        self.options = options
        self.examples = examples
    }

    /// What every command takes, before or behind its name.
    static let globalOptions = [
        OptionSpecification("config", "FILE", "configuration file (default /etc/ibeacon-gateway/config.json)"),
        OptionSpecification("state-dir", "DIR", "where state is kept (default /var/lib/ibeacon-gateway)"),
        OptionSpecification("json", nil, "print JSON instead of tables"),
        OptionSpecification("verbose", nil, "say more"),
        OptionSpecification("quiet", nil, "say only what went wrong"),
        OptionSpecification("help", nil, "show help"),
        OptionSpecification("version", nil, "show the version"),
    ]
}
