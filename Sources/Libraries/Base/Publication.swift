/// A message on its way to the broker. It is the same value in the core that makes it, in the outbox, and on the broker's
/// thread.
package struct Publication: Hashable, Sendable {
    /// The kind decides which messages are dropped when there is no room, and who may read the message. Nothing reads the
    /// topic for it. The numbers are in the stores of users.
    package enum Kind: Int64, CaseIterable, Sendable {
        /// Enter or leave of a region. Dropped last.
        case transition = 0
        /// A position report. Dropped before all others except pings.
        case location = 1
        /// A message outside OwnTracks' tree: the retained value of its topic. It replaces an older one that still waits.
        case state = 2
        /// Any other message of OwnTracks: an answer to a command, or a message that a setting asks for.
        case other = 3
        /// A periodic position report. It replaces an older one of its topic that still waits.
        case ping = 4
        /// A message that is useless later. It is not stored, and it is refused if the present connection cannot send it.
        case transient = 5

        /// Whether the message is in OwnTracks' tree. Only such a message is encrypted with the key of its owner, and
        /// posted over HTTP.
        package var isOwnTracks: Bool {
            switch self {
            case .transition, .location, .other, .ping: true
            case .state, .transient: false
            }
        }
    }

    package var kind: Kind
    /// Whom the message belongs to: the base topic of a tracker or of a rooms service. Indices of trackers may change
    /// when the configuration is edited. Empty for a message that is not stored.
    package var owner: String
    package var topic: String
    /// Empty: the broker deletes its retained message.
    package var payload: [UInt8]
    package var qos: QoS
    package var isRetained: Bool
    /// The instant of the event. It means nothing in a message that is not stored.
    package var happened: MonotonicInstant
    /// `provisional` if the payload was made while the wall clock was unknown.
    package var stamp: WallStamp

    package init(
        _ kind: Kind, of owner: String = "", topic: String, payload: [UInt8], qos: QoS = .atLeastOnce,
        isRetained: Bool = false, happened: MonotonicInstant = .zero, stamp: WallStamp = .exact
    ) {
        self.kind = kind
        self.owner = owner
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.isRetained = isRetained
        self.happened = happened
        self.stamp = stamp
    }

    /// What the message has in common with the earlier ones that it replaces while they wait: its kind and its topic.
    package struct Replacement: Hashable, Sendable {
        let kind: Kind
        let topic: ExactString
    }

    /// nil: it replaces none.
    package var replacement: Replacement? {
        kind == .state || kind == .ping ? Replacement(kind: kind, topic: ExactString(topic)) : nil
    }

    /// The payload as text.
    package var text: String { String(decoding: payload, as: UTF8.self) }
}
