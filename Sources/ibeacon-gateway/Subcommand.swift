/// Every command of the program: how it is written, and what carries it out.
struct Subcommand {
    let specification: CommandSpecification
    let run: (Arguments) throws -> ExitCode

    static let all: [Subcommand] = [
        RunCommand.command,
        ReplayCommand.command,
        RegionsCommand.command,
        ConfigCommand.command,
    ]
}
