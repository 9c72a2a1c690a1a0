import Base
import Beacon
import Presence
import Status

/// One region of `/explain.json` as text.
enum ExplanationText {
    /// - Parameter now: The moment from which the times of the region count.
    static func text(_ region: ExplainedRegion, at now: MonotonicInstant) -> String {
        let head =
            "\(Terminal.printable(region.name)) (\(Terminal.printable(region.rid))), "
            + "tracker \(Terminal.printable(region.trackerID)): \(region.isInside ? "inside" : "outside")\n"
            + Terminal.printable(region.explanation)
        let rows = region.beacons.flatMap { beacon in beacon.links.map { (beacon: beacon, link: $0) } }
        guard !rows.isEmpty else { return head }
        let table = Terminal.table(
            rows,
            [
                ("BEACON", { "\($0.beacon.beacon)" }),
                ("NEAR", { $0.beacon.isNear ? "yes" : "no" }),
                ("ADAPTER", { "hci\($0.link.receiver.index)" }),
                ("LISTENS", { $0.link.isListening ? "yes" : "no" }),
                ("SILENCE", { seconds($0.link.silence) }),
                ("INTERVAL", { $0.link.isRhythmKnown ? seconds($0.link.interval) : "not known yet" }),
                (
                    "ARRIVES",
                    { $0.link.isRhythmKnown ? "\(Int64(saturating: Double($0.link.shareHeard) * 100)) %" : "" }
                ),
                ("LONGEST GAP", { seconds($0.link.longestRecentGap) }),
                ("LEVEL", { $0.link.level.map { "\(Int64(saturating: Double($0))) dBm" } ?? "" }),
                ("GIVEN UP AFTER", { seconds($0.link.leaveTimeout) }),
                ("LEAVES IN", { seconds($0.beacon.expectedLeave.map { now.duration(to: $0) }) }),
            ])
        return head + "\n" + table
    }

    private static func seconds(_ duration: Duration?) -> String {
        duration.map { "\(StatusText.figure(($0.inSeconds * 100).rounded() / 100)) s" } ?? ""
    }
}
