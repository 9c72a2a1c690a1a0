/// When a changed setting takes effect in a running service.
package enum SettingEffect: String, Hashable, Sendable, CaseIterable {
    /// At the reload.
    case live
    /// With a new connection to the broker. The service makes it at the reload.
    case reconnect
    /// With the next start of the service.
    case restart
}

extension SettingEffect {
    var words: String {
        switch self {
        case .live: "at once in"
        case .reconnect: "new connection of"
        case .restart: "restart of"
        }
    }
}
