package import Base
package import Beacon
package import JSON
import OwnTracks
package import Presence

/// Why a region is occupied or not, in words and in numbers, for the page, the log and `status --explain`.
package enum RegionExplanation {
    /// One or two sentences about the beacon that decides.
    ///
    /// - Parameters:
    ///   - deciding: nil if no beacon of the region was heard since the start.
    ///   - threshold: The strength that the region requires; nil: any.
    ///   - battery: The last reading of the battery of the beacon that decides, or of the only beacon of the region.
    package static func text(
        _ deciding: PresenceExplanation?, threshold: RSSI?, battery: BatteryState?, at now: MonotonicInstant
    ) -> String {
        let sentences = presence(deciding, threshold: threshold, at: now)
        // A beacon whose battery is empty looks like one that left.
        guard deciding?.isNear != true, let battery, battery.isLow else { return sentences }
        let age = battery.instant.map { ", \(long($0.duration(to: now))) ago" } ?? ""
        return sentences + " Its battery was low at the last reading\(age): \(battery.battery)."
    }

    private static func presence(
        _ deciding: PresenceExplanation?, threshold: RSSI?, at now: MonotonicInstant
    ) -> String {
        guard let deciding, let link = best(of: deciding.links) else {
            return "No beacon of it was heard since the start."
        }
        let heard = "Beacon \(deciding.beacon) was heard \(seconds(link.silence)) ago" + details(of: link)
        guard deciding.isNear else {
            if let joint = deciding.joint, joint.silence >= joint.leaveTimeout {
                return heard + "; after \(seconds(joint.leaveTimeout)) of silence at all adapters it counts as gone."
            }
            guard link.silence < link.leaveTimeout else {
                return heard
                    + "; after \(seconds(link.leaveTimeout)) of silence it counts as gone\(reason(for: link.rule))."
            }
            guard let threshold else { return heard + "; it enters when it is heard again." }
            return heard + "; it is not near enough, \(threshold.dBm) dBm are required."
        }
        guard let leave = deciding.expectedLeave else {
            return heard + ". No adapter listens now, so no beacon leaves."
        }
        return heard + "; it leaves in \(seconds(max(.zero, now.duration(to: leave)))) if it is not heard again."
    }

    /// Among the receivers that have not given the beacon up, the receiver with the strongest signal; otherwise the
    /// receiver that heard the beacon last.
    private static func best(of links: [PresenceExplanation.Link]) -> PresenceExplanation.Link? {
        links.filter { $0.silence < $0.leaveTimeout }.max { ($0.level ?? -128) < ($1.level ?? -128) }
            ?? links.min { $0.silence < $1.silence }
    }

    private static func details(of link: PresenceExplanation.Link) -> String {
        var facts: [String] = []
        if let level = link.level { facts.append("at \(Int(level.rounded())) dBm") }
        if link.isRhythmKnown, let interval = link.interval { facts.append("sends every \(seconds(interval))") }
        if link.isRhythmKnown { facts.append("\(Int((link.shareHeard * 100).rounded())) % arrives") }
        return facts.isEmpty ? "" : " (\(facts.joined(separator: ", ")))"
    }

    /// Why the leave timeout is as it is, where the rhythm that is shown does not explain it.
    private static func reason(for rule: LeaveTimeoutRule) -> String {
        switch rule {
        case .rhythm, .floor: ""
        case .longestGap: ", because a recent gap was nearly as long"
        case .slowDown: ", because it may slow down at rest"
        case .unknownRhythm: ", because its rhythm is not known yet"
        case .cap: ", the longest that any beacon may be silent"
        case .leaveAfter: ", as leaveAfter says"
        }
    }

    /// Of a reading that may be months old: `70 s`, `5 min`, `30 h`, `12 days`.
    private static func long(_ duration: Duration) -> String {
        let whole = max(0, Int64(duration.inSeconds))
        return switch whole {
        case ..<120: "\(whole) s"
        case ..<7200: "\(whole / 60) min"
        case ..<172_800: "\(whole / 3600) h"
        default: "\(whole / 86_400) days"
        }
    }

    /// `0.5 s`; whole seconds from 10 on.
    private static func seconds(_ duration: Duration) -> String {
        let tenths = Int64((duration.inSeconds * 10).rounded())
        return tenths < 100 ? "\(tenths / 10).\(tenths % 10) s" : "\((tenths + 5) / 10) s"
    }

    /// The state of one beacon in a region. Durations are seconds, signals dBm. Silence does not grow while no receiver
    /// listens.
    package static func json(_ explanation: PresenceExplanation, at now: MonotonicInstant) -> JSONValue {
        [
            "beacon": .string("\(explanation.beacon)"), "near": .bool(explanation.isNear),
            "leavesIn": explanation.expectedLeave.map { hundredths(max(.zero, now.duration(to: $0))) } ?? .null,
            "together": explanation.joint.map { joint in
                [
                    "silence": hundredths(joint.silence), "shareHeard": share(joint.shareHeard),
                    "leaveTimeout": hundredths(joint.leaveTimeout),
                ]
            } ?? .null,
            "receivers": .array(
                explanation.links.map { link in
                    [
                        "adapter": .string("hci\(link.receiver.index)"), "listening": .bool(link.isListening),
                        "silence": hundredths(link.silence), "interval": link.interval.map(hundredths) ?? .null,
                        "rhythmKnown": .bool(link.isRhythmKnown),
                        "shareHeard": share(link.shareHeard),
                        "longestGap": hundredths(link.longestRecentGap),
                        "level": link.level.map { .integer(Int64($0.rounded())) } ?? .null,
                        "moving": .bool(link.isMoving), "leaveTimeout": hundredths(link.leaveTimeout),
                        "leaveRule": .string(link.rule.rawValue),
                    ]
                }),
        ]
    }

    private static func share(_ share: Float) -> JSONValue { .plain((Double(share) * 100).rounded() / 100) }

    private static func hundredths(_ duration: Duration) -> JSONValue {
        .plain((duration.inSeconds * 100).rounded() / 100)
    }
}
