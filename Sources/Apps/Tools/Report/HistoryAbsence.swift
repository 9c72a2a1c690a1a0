import Base
import Configuration
import OwnTracks
import Regions
import Shell
import Storage
import System

/// Why `history` has nothing to show: nothing happened, or the options leave all of it out.
struct HistoryAbsence {
    let filter: HistoryFilter
    let settings: Settings
    let zone: TimeText.Zone

    /// What to tell people.
    func text() throws -> String {
        guard let latest = try latest(in: nil) else { return "nothing happened yet" }
        guard let region = filter.region else {
            return "nothing happened\(since); the latest event is of \(HistoryText.time(of: latest, in: zone))\(unit)"
        }
        let own = try self.latest(in: region).map {
            "; its latest event is of \(HistoryText.time(of: $0, in: zone))\(unit)"
        }
        return "nothing of '\(Terminal.printable(region))'\(since)\(own ?? ", which is in no event of the history")"
    }

    /// - Throws: `Failure` if neither the configuration, nor the state, nor the history knows the region.
    func checkRegion() throws {
        guard let region = filter.region else { return }
        let known = try knownNames()
        guard !known.contains(where: { $0.hasSameBytes(as: region) }) else { return }
        throw Failure(
            .badData,
            "there is no region '\(region)', and no event of one in the history\(hint(for: region, among: known))")
    }

    private var since: String {
        filter.since.map { " since \(TimeText.full($0, in: zone))\(unit)" } ?? ""
    }

    private var unit: String { zone == .utc ? " UTC" : "" }

    /// The last event of a region; nil: of any.
    private func latest(in region: String?) throws -> PastTransition? {
        var latest: PastTransition?
        _ = try StoreReader.read(settings.stateDirectory) { reader in
            try reader.forEachTransition(HistoryFilter(region: region, limit: 1)) {
                latest = $0
                return true
            }
        }
        return latest
    }

    /// The names and keys of all regions.
    private func knownNames() throws -> [String] {
        var regions = settings.configuration.trackers.flatMap(\.waypoints.changes).compactMap { change in
            if case .set(let region, _) = change { region } else { nil }
        }
        var names: [String] = []
        _ = try StoreReader.read(settings.stateDirectory) { reader in
            regions += try reader.regions().values.flatMap(\.regions)
            try reader.forEachTransition(HistoryFilter()) { entry in
                for name in [entry.name, entry.rid] where !names.contains(name) { names.append(name) }
                return true
            }
        }
        return names + regions.flatMap { [$0.description.name, $0.displayName, $0.rid] }
    }
}
