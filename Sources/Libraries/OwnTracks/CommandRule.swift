/// What the services do with one kind of command.
package struct CommandRule: Hashable, Sendable {
    package enum Delivery: Hashable, Sendable {
        /// The service does not know the command.
        case unsupported
        /// A retained command is refused: the broker sends it at every connection, and each time it would be carried out.
        case liveOnly
        /// The command may be retained. A retained message that was applied before is not applied again.
        case retainable
    }

    var gateway = Delivery.unsupported
    var rooms = Delivery.unsupported
    /// The command changes nothing. Equal queries that wait at the same time get one answer.
    var isQuery = false
    /// The cost does not depend on the number of regions.
    var isCheap = false
    /// `cmd` alone is not enough: `remoteConfiguration` must be on too.
    package var needsRemoteConfiguration = false

    package func delivery(to service: CommandService) -> Delivery {
        switch service {
        case .gateway: gateway
        case .rooms: rooms
        }
    }
}
