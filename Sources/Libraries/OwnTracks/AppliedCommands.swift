/// The last commands that were applied and that the broker may send again because it retains them.
///
/// A command that arrives live is remembered, too: the broker delivers a retained message as live to present
/// subscribers, and as retained only at the next connection.
package struct AppliedCommands: Hashable, Sendable {
    /// The limit of remembered commands. A topic retains one message. The others are live commands that came after it.
    static let most = 64

    /// The latest command is last.
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

    /// Reads what `bytes` returned. Anything else is ignored: the command is then applied once more.
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
