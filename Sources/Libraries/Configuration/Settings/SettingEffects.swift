import OwnTracks

/// The effect of a setting in each service; nil where the service does not use it.
struct SettingEffects: Hashable, Sendable {
    var gateway: SettingEffect?
    var rooms: SettingEffect?

    static func gateway(_ effect: SettingEffect) -> Self { Self(gateway: effect) }
    static func rooms(_ effect: SettingEffect) -> Self { Self(rooms: effect) }
    static func both(_ effect: SettingEffect) -> Self { Self(gateway: effect, rooms: effect) }

    subscript(service: CommandService) -> SettingEffect? {
        switch service {
        case .gateway: gateway
        case .rooms: rooms
        }
    }
    /// What a change needs, as the default file says it; nil for the usual, which its head explains, and for an object.
    var words: String? {
        guard self != .gateway(.live), self != SettingEffects() else { return nil }
        if let gateway, gateway == rooms { return "\(gateway.words) both services" }
        return CommandService.allCases.compactMap { service in
            self[service].map { "\($0.words) the \(service.rawValue)" }
        }.joined(separator: ", ")
    }
}
