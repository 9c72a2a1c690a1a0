package import Configuration
import OwnTracks
import SiteProtocol

extension SiteSettings {
    /// The settings of a site, from the configuration.
    package init(_ configuration: Configuration) {
        self.init()
        site = configuration.rooms?.site
        tags = configuration.rooms?.tags ?? []
        for entry in configuration.rooms?.gateways ?? [] { gateways[entry.gateway] = RoomName(entry.room) }
        position = configuration.position
        publishesVirtualNodes = configuration.rooms?.publishesVirtualNodes ?? false
        surveysGateways = configuration.rooms?.surveysGateways ?? false
        commandRights = CommandGate.Rights(
            obeysCommands: configuration.obeysCommands,
            allowsRemoteConfiguration: configuration.allowsRemoteConfiguration, needsEncryption: false)
    }
}
