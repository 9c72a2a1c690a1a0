/// The services that obey commands, each on its own `/cmd`.
package enum CommandService: String, Hashable, Sendable, CaseIterable {
    case gateway
    case rooms = "rooms service"
}
