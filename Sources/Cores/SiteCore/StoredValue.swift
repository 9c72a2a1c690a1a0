import Base
import JSON
package import OwnTracks
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
    /// The keys of the regions that the configuration file defines.
    case configured([String])
    /// Whether the visits of the history go on.
    case openVisits(Bool)
    /// The minor of the beacon that each gateway is asked to send.
    case surveyMinors([String: UInt16])
    /// What the gateways usually hear of each other's beacons.
    case surveyLevels([LevelSurvey.StoredPair])

    private static let tagPrefix = "rooms.tag."
    private static let created = "rooms.created"
    private static let heard = "rooms.heard"
    private static let learned = "rooms.learned"
    private static let listVersion = "rooms.list"
    private static let configured = "rooms.configured"
    private static let openVisits = "rooms.visits"
    private static let topicKey = "rooms.topic"
    private static let surveyMinors = "rooms.survey"
    private static let surveyLevels = "rooms.survey.levels"

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
        case .configured: Self.configured
        case .openVisits: Self.openVisits
        case .topic: Self.topicKey
        case .surveyMinors: Self.surveyMinors
        case .surveyLevels: Self.surveyLevels
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
        case .configured(let rids): JSONValue.array(rids.map { .string($0) }).bytes
        case .openVisits(let areOpen): JSONValue.bool(areOpen).bytes
        case .topic: Array(base.utf8)
        case .surveyMinors(let minors): JSONValue.object(minors.mapValues { .integer(Int64($0)) }).bytes
        case .surveyLevels(let pairs): StoredLevels(pairs).json.bytes
        }
    }

    static func topic(in values: [ExactString: [UInt8]]) -> String? {
        values[ExactString(topicKey)].map { String(decoding: $0, as: UTF8.self) }
    }

    static func listVersion(in values: [ExactString: [UInt8]]) -> TagList.Version? {
        values[ExactString(listVersion)].flatMap { try? JSONValue(parsing: $0) }.map {
            TagList.Version($0) ?? .init(0, "")
        }
    }

    static func surveyMinors(in values: [ExactString: [UInt8]]) -> [String: UInt16] {
        let json = values[ExactString(surveyMinors)].flatMap { try? JSONValue(parsing: $0) }
        return (json?.object ?? [:]).compactMapValues { $0.asInteger.flatMap { UInt16(exactly: $0) } }
    }

    static func surveyLevels(in values: [ExactString: [UInt8]]) -> [LevelSurvey.StoredPair] {
        values[ExactString(surveyLevels)].flatMap { StoredLevels($0) }?.pairs ?? []
    }

    static func configured(in values: [ExactString: [UInt8]]) -> [String] {
        values[ExactString(configured)].flatMap { try? JSONValue(parsing: $0) }?.array?.compactMap(\.string) ?? []
    }

    static func openVisits(in values: [ExactString: [UInt8]]) -> Bool {
        values[ExactString(openVisits)].flatMap { try? JSONValue(parsing: $0) }?.asBool ?? true
    }

    static func tag(in key: String) -> String? {
        key.hasPrefix(tagPrefix) ? String(key.dropFirst(tagPrefix.count)) : nil
    }

    static func created(in values: [ExactString: [UInt8]]) -> [String: Int64] { times(created, in: values) }

    static func heard(in values: [ExactString: [UInt8]]) -> [String: Int64] { times(heard, in: values) }

    private static func times(_ key: String, in values: [ExactString: [UInt8]]) -> [String: Int64] {
        let json = values[ExactString(key)].flatMap { try? JSONValue(parsing: $0) }
        return (json?.object ?? [:]).compactMapValues(\.asInteger)
    }

    static func learned(in values: [ExactString: [UInt8]]) throws -> LearnedSite? {
        guard let bytes = values[ExactString(learned)] else { return nil }
        var limits = JSONLimits()
        limits.bytes = 128 << 20
        limits.values = 10_000_000
        return try LearnedSite(try JSONValue(parsing: bytes, limits: limits))
    }
}
