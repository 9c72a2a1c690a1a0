/// The services that obey commands, each on its own `/cmd`.
package enum CommandService: Hashable, Sendable, CaseIterable {
    case gateway, rooms
}

/// What a service does with one kind of command.
package enum CommandRule: Hashable, Sendable {
    /// The service does not know the command.
    case unsupported
    /// A retained command is refused: the broker sends it at every connection, and it would be carried out each time.
    case liveOnly
    /// The command may be retained. A retained message that was applied before is not applied again.
    case retainable
}

extension Command {
    /// The one table of what each service does with each command.
    package func rule(in service: CommandService) -> CommandRule {
        switch (self, service) {
        case (.setWaypoints, .gateway), (.setWaypoints, .rooms): .retainable
        case (.clearWaypoints, .gateway), (.clearWaypoints, .rooms): .liveOnly
        case (.reportLocation, .gateway), (.waypoints, .gateway), (.dump, .gateway), (.status, .gateway),
            (.setConfiguration, .gateway):
            .liveOnly
        case (.reportLocation, .rooms), (.waypoints, .rooms), (.dump, .rooms), (.status, .rooms),
            (.setConfiguration, .rooms):
            .unsupported
        }
    }

    /// What a service does with this command, as far as only the command and its delivery decide.
    package func admission(
        to service: CommandService, isRetained: Bool, digest: CommandDigest?, applied: AppliedCommands
    ) -> CommandAdmission {
        switch rule(in: service) {
        case .unsupported: .refused("the rooms service does not know '\(action)'")
        case .liveOnly: isRetained ? .refused("the broker had retained it") : .carriedOut
        case .retainable:
            isRetained && digest.map(applied.contains) == true ? .appliedBefore : .carriedOut
        }
    }
}

package enum CommandAdmission: Hashable, Sendable {
    case carriedOut
    /// The broker had retained the message, and its bytes were applied before.
    case appliedBefore
    /// With the reason for the log.
    case refused(String)

    /// The line of the log for a refused command; the same for all services.
    package static func refusal(on topic: String, _ reason: String) -> String {
        "command on \(topic) refused: \(reason)"
    }

    /// The line of the log for a command that was applied before.
    package static func repetition(on topic: String) -> String {
        "the retained command on \(topic) was applied before, and is not applied again"
    }
}

/// Identifies the message that a command came in: FNV-1a with 64 bits over its bytes as they arrived, encrypted or not,
/// and the command's place in it. The digest finds repetitions. It is no protection: whoever may write to `/cmd` needs
/// no collision.
package struct CommandDigest: Hashable, Sendable {
    package let value: UInt64

    package init(of payload: some Sequence<UInt8>) {
        value = payload.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    fileprivate init(value: UInt64) { self.value = value }

    /// The digest of the command at this place of a message with several commands.
    package func command(at place: Int) -> CommandDigest {
        CommandDigest(value: (value ^ UInt64(truncatingIfNeeded: place)) &* 0x100_0000_01b3)
    }
}

/// The commands that were applied last and that the broker may send again because it retains them.
///
/// A command that arrives live is remembered too: the broker delivers a retained message as live to those who are
/// subscribed, and as retained only at the next connection.
package struct AppliedCommands: Hashable, Sendable {
    /// How many are remembered. A topic retains one message. The others are live commands that came after it.
    static let most = 64

    /// The latest is the last.
    private var digests: [CommandDigest] = []

    package init() {}

    package func contains(_ digest: CommandDigest) -> Bool { digests.contains(digest) }

    /// Remembers a command, as the latest.
    ///
    /// - Returns: Whether this changed anything, so that it has to be stored.
    package mutating func remember(_ digest: CommandDigest?) -> Bool {
        guard let digest, digests.last != digest else { return false }
        digests.removeAll { $0 == digest }
        digests.append(digest)
        digests.removeFirst(max(0, digests.count - Self.most))
        return true
    }

    // MARK: - In the store

    package static func storeKey(of topic: String) -> String { "commands applied \(topic)" }

    /// What `bytes` returned. Anything else is left out: the command is then applied once more.
    package init(bytes: [UInt8]) {
        digests = String(decoding: bytes, as: UTF8.self).split(separator: " ").compactMap {
            UInt64($0, radix: 16).map(CommandDigest.init(value:))
        }.suffix(Self.most)
    }

    /// Hexadecimal numbers with spaces between them.
    package var bytes: [UInt8] {
        Array(digests.map { String($0.value, radix: 16) }.joined(separator: " ").utf8)
    }
}
