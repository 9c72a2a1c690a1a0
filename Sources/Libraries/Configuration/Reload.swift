import JSON
package import OwnTracks

/// What a reload of the configuration changes in a running service.
package struct Reload: Sendable {
    /// The new settings, but with the running values of those that need a restart.
    package let configuration: Configuration
    /// The changed settings with their effects, in the order of the default file.
    package let changes: [(name: String, effect: SettingEffect)]

    /// - Parameters:
    ///   - running: The settings in force.
    ///   - new: The settings of the configuration file.
    package init(from running: Configuration, to new: Configuration, in service: CommandService) {
        var changes: [(name: String, effect: SettingEffect)] = []
        var inForce = new
        for setting in Setting.all {
            let rows = setting.members.isEmpty ? [setting] : setting.members
            let changed = rows.filter { $0.effects[service] != nil && $0.differs(running, new) }
            guard !changed.isEmpty else { continue }
            for row in changed where row.effects[service] == .restart { row.keep?(running, &inForce) }
            // An object that is added or removed is one change.
            if !setting.members.isEmpty, (setting.shown(running) == .null) != (setting.shown(new) == .null) {
                let effects = changed.compactMap { $0.effects[service] }
                changes.append((setting.name, SettingEffect.allCases.last(where: effects.contains) ?? .live))
            } else {
                changes += changed.compactMap { row in
                    row.effects[service].map { (row.name, row.effect($0, in: new)) }
                }
            }
        }
        self.changes = changes
        configuration = inForce
    }

    /// Whether the changes need a new connection to the broker.
    package var needsConnection: Bool { changes.contains { $0.effect == .reconnect } }

    /// What was applied, what needs a new connection, and what needs a restart, in words for the log.
    package var text: String {
        let parts = SettingEffect.allCases.compactMap { effect -> String? in
            let names = changes.filter { $0.effect == effect }.map(\.name).joined(separator: ", ")
            guard !names.isEmpty else { return nil }
            return switch effect {
            case .live: "applied: \(names)"
            case .reconnect: "connecting again for: \(names)"
            case .restart: "restart needed for: \(names)"
            }
        }
        return parts.isEmpty ? "nothing changed" : parts.joined(separator: "; ")
    }
}

extension Setting {
    /// Whether the setting has another value. Texts are compared by their bytes.
    fileprivate func differs(_ running: Configuration, _ new: Configuration) -> Bool {
        let own = own ?? shown
        return own(running).bytes != own(new).bytes || secrets?(running) != secrets?(new)
    }

    /// Over HTTP, one connection posts for all identities.
    fileprivate func effect(_ effect: SettingEffect, in configuration: Configuration) -> SettingEffect {
        name == "trackers" && configuration.broker.endpoint != nil ? .reconnect : effect
    }
}
