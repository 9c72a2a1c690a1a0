/// The commands, by their names on the wire.
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
