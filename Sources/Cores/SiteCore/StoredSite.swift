package import Base
import JSON
package import OwnTracks
package import Regions
package import Rooms
package import SiteProtocol

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
    /// The keys of the regions that the configuration file defined when the service ran last.
    package var configured: [String] = []
    /// Whether the visits of the history go on: no other service was active at the end.
    package var hasOpenVisits = true
    /// The minor of the beacon that each gateway is asked to send.
    package var surveyMinors: [String: UInt16] = [:]
    /// What the gateways usually hear of each other's beacons.
    package var surveyLevels: [LevelSurvey.StoredPair] = []
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
        configured = StoredValue.configured(in: values)
        hasOpenVisits = StoredValue.openVisits(in: values)
        if isSameSite {
            surveyMinors = StoredValue.surveyMinors(in: values)
            surveyLevels = StoredValue.surveyLevels(in: values)
        }
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
                // If there are several, it is unknown which one. An empty list must not replace that of the site.
                areTagsKnown = topics.count <= 1
                if topics.count == 1 { topic = topics[0] }
            }
            lacksTopic = areTagsKnown
        }
        if !topic.hasSameBytes(as: base) { (formerTopic, lacksTopic) = (topic, true) }
        return topic
    }
}
