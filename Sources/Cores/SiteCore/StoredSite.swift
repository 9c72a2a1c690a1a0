package import Base
import JSON
package import OwnTracks
package import Regions
package import Rooms
package import SiteProtocol

/// A value that the service stores.
package enum StoredValue: Sendable {
    /// The state of a tag as last published; nil if the tag was removed.
    case tag(id: String, PublishedTag?)
    /// When a tag first entered each room, epoch seconds, by the room's id.
    case created([String: Int64])
    /// When each tag that is at home was last heard, epoch seconds, by the tag's id.
    case heard([String: Int64])
    case learned(LearnedSource)
    case appliedCommands(AppliedCommands)
    case obeyedEnvelopes(ObeyedEnvelopes)
    /// The service's own topic, under which the tags are stored.
    case topic
    /// The version of the list of tags.
    case listVersion(TagList.Version)
    /// Whether the visits of the history go on.
    case openVisits(Bool)

    private static let tagPrefix = "rooms.tag."
    private static let created = "rooms.created"
    private static let heard = "rooms.heard"
    private static let learned = "rooms.learned"
    private static let listVersion = "rooms.list"
    private static let openVisits = "rooms.visits"
    private static let topicKey = "rooms.topic"

    /// The key in the store.
    ///
    /// - Parameter base: The service's own topic.
    package func key(ofService base: String) -> String {
        switch self {
        case .tag(let id, _): Self.tagPrefix + id
        case .created: Self.created
        case .heard: Self.heard
        case .learned: Self.learned
        case .listVersion: Self.listVersion
        case .openVisits: Self.openVisits
        case .topic: Self.topicKey
        case .appliedCommands: AppliedCommands.storeKey(of: base)
        case .obeyedEnvelopes: ObeyedEnvelopes.storeKey
        }
    }

    /// The stored bytes; nil if nothing is stored any more. Encoding the learned data takes long.
    ///
    /// - Parameter base: The service's own topic.
    package func bytes(ofService base: String) -> [UInt8]? {
        switch self {
        case .tag(_, let state): state?.json.bytes
        case .created(let times), .heard(let times): JSONValue.object(times.mapValues { .integer($0) }).bytes
        case .learned(let source): source.bytes
        case .appliedCommands(let commands): commands.bytes
        case .obeyedEnvelopes(let envelopes): envelopes.bytes
        case .listVersion(let version): JSONValue.object(version.members).bytes
        case .openVisits(let areOpen): JSONValue.bool(areOpen).bytes
        case .topic: Array(base.utf8)
        }
    }

    fileprivate static func topic(in values: [ExactString: [UInt8]]) -> String? {
        values[ExactString(topicKey)].map { String(decoding: $0, as: UTF8.self) }
    }

    fileprivate static func listVersion(in values: [ExactString: [UInt8]]) -> TagList.Version? {
        values[ExactString(listVersion)].flatMap { try? JSONValue(parsing: $0) }.map {
            TagList.Version($0) ?? .init(0, "")
        }
    }

    fileprivate static func openVisits(in values: [ExactString: [UInt8]]) -> Bool {
        values[ExactString(openVisits)].flatMap { try? JSONValue(parsing: $0) }?.asBool ?? true
    }

    fileprivate static func tag(in key: String) -> String? {
        key.hasPrefix(tagPrefix) ? String(key.dropFirst(tagPrefix.count)) : nil
    }

    fileprivate static func created(in values: [ExactString: [UInt8]]) -> [String: Int64] { times(created, in: values) }

    fileprivate static func heard(in values: [ExactString: [UInt8]]) -> [String: Int64] { times(heard, in: values) }

    private static func times(_ key: String, in values: [ExactString: [UInt8]]) -> [String: Int64] {
        let json = values[ExactString(key)].flatMap { try? JSONValue(parsing: $0) }
        return (json?.object ?? [:]).compactMapValues(\.asInteger)
    }

    fileprivate static func learned(in values: [ExactString: [UInt8]]) throws -> LearnedSite? {
        guard let bytes = values[ExactString(learned)] else { return nil }
        var limits = JSONLimits()
        limits.bytes = 128 << 20
        limits.values = 10_000_000
        return try LearnedSite(try JSONValue(parsing: bytes, limits: limits))
    }
}

/// The state that the store had when it was opened.
package struct StoredSite: Sendable {
    /// The tags as regions.
    package var regions = RegionSet()
    /// The published states by the tag's id.
    package var states: [String: PublishedTag] = [:]
    package var created: [String: Int64] = [:]
    /// When each tag that was at home was last heard, epoch seconds, by the tag's id.
    package var heard: [String: Int64] = [:]
    package var learned: LearnedSite?
    /// Why the learned data cannot be read; nil if it can.
    package var problem: String?
    package var appliedCommands = AppliedCommands()
    package var obeyedEnvelopes = ObeyedEnvelopes()
    /// nil if none was stored, as by earlier versions of the program.
    package var listVersion: TagList.Version?
    /// Whether the visits of the history go on: no other service was active at the end.
    package var hasOpenVisits = true
    /// Whether edits of tags wait that are not in `regions` yet.
    package var isEdited = false
    /// Whether the service's own topic is to be stored: none or another one is stored.
    package var lacksTopic = false
    /// The topic from which the tags are taken, because the settings changed the service's own; nil: that is its own.
    package var formerTopic: String?
    /// Whether it is known under which topic the tags are stored.
    package var areTagsKnown = true

    package init() {}

    /// Whether the service had tags before, or was given some.
    var hasList: Bool {
        areTagsKnown && (listVersion != nil || !states.isEmpty || !regions.regions.isEmpty || isEdited)
    }

    /// Reads what `StoredValue` wrote.
    ///
    /// - Parameters:
    ///   - regions: The stored regions by topic.
    ///   - base: The service's own topic. If the settings changed it, the service keeps its tags.
    package init(
        _ values: [ExactString: [UInt8]], regions: [ExactString: [Region]], ofService base: String
    ) {
        let topic = takeTopic(values, regions, ofService: base)
        self.regions = RegionSet(regions[ExactString(topic)] ?? [])
        for (key, value) in values {
            guard let id = StoredValue.tag(in: key.text), let state = PublishedTag(value) else { continue }
            states[id] = state
        }
        created = StoredValue.created(in: values)
        heard = StoredValue.heard(in: values)
        // The list was never compared with that of another site.
        let isSameSite = topic.split(separator: "/").last == base.split(separator: "/").last
        listVersion = areTagsKnown && isSameSite ? StoredValue.listVersion(in: values) : nil
        hasOpenVisits = StoredValue.openVisits(in: values)
        appliedCommands = AppliedCommands(bytes: values[ExactString(AppliedCommands.storeKey(of: topic))] ?? [])
        obeyedEnvelopes = ObeyedEnvelopes(bytes: values[ExactString(ObeyedEnvelopes.storeKey)] ?? [])
        do {
            learned = try StoredValue.learned(in: values)
        } catch {
            problem = "\(error)"
        }
    }

    /// Finds the topic under which the tags are stored.
    ///
    /// Earlier versions of the program did not store it. Then it is the service's own, or else the only one that has regions.
    private mutating func takeTopic(
        _ values: [ExactString: [UInt8]], _ regions: [ExactString: [Region]], ofService base: String
    ) -> String {
        var topic = base
        if let stored = StoredValue.topic(in: values) {
            topic = stored
        } else {
            let topics = regions.filter { !$0.value.isEmpty }.map(\.key.text).filter {
                $0.split(separator: "/").last?.hasPrefix("rooms-") == true
            }
            if !topics.contains(where: { $0.hasSameBytes(as: base) }) {
                // Of several it is not known which. An empty list must not replace that of the site.
                areTagsKnown = topics.count <= 1
                if topics.count == 1 { topic = topics[0] }
            }
            lacksTopic = areTagsKnown
        }
        if !topic.hasSameBytes(as: base) { (formerTopic, lacksTopic) = (topic, true) }
        return topic
    }
}
