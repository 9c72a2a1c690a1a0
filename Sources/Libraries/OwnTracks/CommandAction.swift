/// The commands, by their names on the wire.
///
/// To add a command: its case here, and what each service does with it in `rule`; its case in `Command`, with the arguments and their
/// reading. The compiler asks in both services where it is carried out, and `MessageTableTests` for its row. `envelope` gives the example
/// of a command with arguments.
package enum CommandAction: String, Hashable, Sendable, CaseIterable {
    case reportLocation, waypoints, setWaypoints, clearWaypoints, setConfiguration, dump, status

    /// The one table of what each service does with each command.
    package var rule: CommandRule {
        switch self {
        case .reportLocation, .dump: CommandRule(gateway: .liveOnly, isQuery: true, isCheap: true)
        case .waypoints, .status: CommandRule(gateway: .liveOnly, isQuery: true)
        case .setWaypoints: CommandRule(gateway: .retainable, rooms: .retainable)
        case .clearWaypoints: CommandRule(gateway: .liveOnly, rooms: .liveOnly)
        case .setConfiguration: CommandRule(gateway: .liveOnly, needsRemoteConfiguration: true)
        }
    }
}
