package import Base
import Beacon
import Gateway
import Health
package import JSON
package import Presence

/// Why a region is occupied or not, with the state of each of its beacons: an element of `/explain.json`.
package struct ExplainedRegion: Sendable {
    package let trackerID: String
    package let rid: String
    package let name: String
    package let isInside: Bool
    /// In a sentence or two.
    package let explanation: String
    package let beacons: [PresenceExplanation]
    /// The number of regions that were asked for; of very many some are explained.
    package let regionCount: Int

    package func json(at now: MonotonicInstant) -> JSONValue {
        [
            "tid": .string(trackerID), "rid": .string(rid), "name": .string(name), "inside": .bool(isInside),
            "explanation": .string(explanation),
            "beacons": .array(beacons.map { RegionExplanation.json($0, at: now) }),
            "regionCount": .integer(Int64(regionCount)),
        ]
    }
}

extension ExplainedRegion {
    /// Reads what `json(at:)` wrote; nil for what it did not write.
    ///
    /// - Parameter now: From which the times to come count.
    package init?(reading json: JSONValue, at now: MonotonicInstant) {
        guard let rid = json["rid"]?.string else { return nil }
        self.init(
            trackerID: json["tid"]?.string ?? "", rid: rid, name: json["name"]?.string ?? "",
            isInside: json["inside"] == .bool(true), explanation: json["explanation"]?.string ?? "",
            beacons: json["beacons"].elements { PresenceExplanation(reading: $0, at: now) },
            regionCount: Int(clamping: json["regionCount"]?.asCount ?? 0))
    }
}

extension PresenceExplanation {
    init?(reading json: JSONValue, at now: MonotonicInstant) {
        guard let beacon = json["beacon"]?.string.flatMap({ BeaconID($0) }) else { return nil }
        self.init(
            beacon: beacon, isNear: json["near"] == .bool(true),
            links: json["receivers"].elements(Link.init(reading:)),
            joint: json["together"].flatMap(Joint.init(reading:)),
            expectedLeave: json["leavesIn"]?.instant(after: now))
    }
}

extension PresenceExplanation.Link {
    init?(reading json: JSONValue) {
        let adapter = json["adapter"]?.string ?? ""
        guard adapter.hasPrefix("hci"), let index = UInt16(adapter.dropFirst(3)) else { return nil }
        self.init(
            receiver: Receiver(index: index), isListening: json["listening"] == .bool(true),
            silence: json["silence"]?.asSeconds ?? .zero, interval: json["interval"]?.asSeconds,
            shareHeard: Float(json["shareHeard"]?.asShare ?? 0),
            longestRecentGap: json["longestGap"]?.asSeconds ?? .zero,
            level: json["level"]?.number(in: -128...127).map { Float($0) }, isMoving: json["moving"] == .bool(true),
            isRhythmKnown: json["rhythmKnown"] == .bool(true), leaveTimeout: json["leaveTimeout"]?.asSeconds ?? .zero,
            rule: json["leaveRule"]?.string.flatMap(LeaveTimeoutRule.init(rawValue:)) ?? .unknownRhythm)
    }
}

extension PresenceExplanation.Joint {
    init?(reading json: JSONValue) {
        guard let silence = json["silence"]?.asSeconds, let timeout = json["leaveTimeout"]?.asSeconds else {
            return nil
        }
        self.init(silence: silence, shareHeard: Float(json["shareHeard"]?.asShare ?? 0), leaveTimeout: timeout)
    }
}
