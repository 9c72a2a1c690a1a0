import Base
import Regions

/// Past transitions for people: "Anna's keys left". What only scripts and searches need is a detail.
struct HistoryText {
    /// What people call the trackers, by their base topics.
    let names: [String: String?]
    let zone: TimeText.Zone
    /// Whether keys, beacons and topics are shown.
    let hasDetails: Bool

    func table(_ entries: [PastTransition]) -> String {
        let titles = [zone.title("TIME"), "WHAT"] + (hasDetails ? ["REGION", "RID", "BEACON", "TOPIC"] : [])
        return Terminal.table(titles, entries.map(cells))
    }

    private func cells(of entry: PastTransition) -> [String] {
        let own = [Self.time(of: entry, in: zone), event(of: entry)]
        guard hasDetails else { return own }
        return own + [entry.name, entry.rid, entry.beacon.map { "\($0)" } ?? "", entry.tracker]
    }

    /// A beacon came or left. Without a beacon it was the tracker itself: it came to a circle, which its position decides, or a tag came to a
    /// room, in the history of a rooms service.
    private func event(of entry: PastTransition) -> String {
        let name = names[entry.tracker] ?? nil
        guard entry.beacon == nil else {
            return "\(PersonalName.of(region: entry.name, tracker: name)) \(entry.isEnter ? "came" : "left")"
        }
        let device = name ?? String(entry.tracker.split(separator: "/").last ?? "")
        return "\(device) \(entry.isEnter ? "came to" : "left") \(entry.name)"
    }

    static func time(of entry: PastTransition, in zone: TimeText.Zone) -> String {
        switch entry.stamp {
        case .exact: TimeText.full(entry.timestamp, in: zone)
        case .estimated: "~" + TimeText.full(entry.timestamp, in: zone)
        case .provisional: "not known yet"
        }
    }
}
