import System

/// A command of the program: its specification and its implementation.
struct Subcommand {
    let specification: CommandSpecification
    let run: (Arguments) throws -> ExitCode

    static var all: [Subcommand] {
        [
            Subcommand(specification: RunCommand.specification, run: RunCommand.run),
            Subcommand(specification: SetupCommand.specification, run: SetupCommand.run),
            Subcommand(specification: ReplayCommand.specification, run: ReplayCommand.run),
            Subcommand(specification: RoomsCommand.specification, run: RoomsCommand.run),
            Subcommand(specification: ScanCommand.specification, run: ScanCommand.run),
            Subcommand(specification: RegionsCommand.specification, run: RegionsCommand.run),
            Subcommand(specification: PhonesCommand.specification, run: PhonesCommand.run),
            Subcommand(specification: ReportCommand.specification, run: ReportCommand.run),
            Subcommand(specification: HistoryCommand.specification, run: HistoryCommand.run),
            Subcommand(specification: StatusCommand.specification, run: StatusCommand.run),
            Subcommand(specification: DoctorCommand.specification, run: DoctorCommand.run),
            Subcommand(specification: AccessListCommand.specification, run: AccessListCommand.run),
            Subcommand(specification: CardCommand.specification, run: CardCommand.run),
            Subcommand(specification: CardsCommand.specification, run: CardsCommand.run),
            Subcommand(specification: ConfigCommand.specification, run: ConfigCommand.run),
            Subcommand(specification: CompletionCommand.specification, run: CompletionCommand.run),
        ]
    }
}
