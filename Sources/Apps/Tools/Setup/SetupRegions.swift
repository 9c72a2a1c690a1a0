import Base
import Configuration
import Glibc
import OwnTracks
import Regions
import Storage
import System

/// The regions that `setup` makes, in the store of the service.
struct SetupRegions {
    let stateDirectory: String
    let dialogue: Dialogue

    /// - Parameter text: `NAME:UUID[:MAJOR[:MINOR]]`, or the description of an identity.
    static func region(_ text: String) throws(Failure) -> Region {
        let shown = RegionDescription.shown(text)
        let description = try mapError({ Failure(.usage, "'\(shown)' is not a region: \($0)") }) {
            () throws(RegionDescriptionError) in
            // The numbers shown here are decimal, and so are the numbers that the user types.
            try RegionDescription(parsing: text, base: .decimal)
        }
        guard description.pattern != nil else {
            throw Failure(.usage, "'\(shown)' has no UUID; write UUID[:MAJOR[:MINOR]]")
        }
        let now = Int64(time(nil))
        // Where it is stored, it gets the `rid` of a free second.
        return Region(rid: "", description: description, timestamp: now).keepingIdentity()
    }

    /// What the service takes for the only tracker that `setup` configures.
    private func limit(of base: String) -> RegionLimit { RegionLimit(of: [base], most: Configuration.mostRegions) }

    /// Adds a region to those of a tracker, unless there is one like it.
    ///
    /// - Parameter base: The base topic of the tracker.
    func add(_ region: Region, of base: String) throws {
        try StoreEditor.edit(stateDirectory, of: base, within: limit(of: base)) { regions in
            guard case .new(let added) = RegionAddition(region, to: regions) else { return [] }
            return [.set(added, isRIDDerived: false)]
        }
    }

    /// Stores the regions of the answers. Regions belong to a topic, so those of a previous topic are copied.
    ///
    /// - Parameters:
    ///   - descriptions: Of the first regions.
    ///   - addresses: Descriptions of tags that are heard only if a region names them.
    ///   - imported: The regions of an app.
    ///   - base: The base topic of the tracker.
    ///   - before: The base topic of the configuration that was replaced.
    func store(
        _ descriptions: [String], addresses: [String], imported: [RegionChange], of base: String, before: String?
    ) throws {
        var copied: [Region] = []
        if let before, !before.hasSameBytes(as: base),
            let stored = try? StoreReader(directory: stateDirectory).regions()[before]?.regions, !stored.isEmpty
        {
            copied = stored
            dialogue.show("Took over the regions of \(before): \(stored.map(\.displayName).joined(separator: ", ")).")
        }
        var new: [Region] = []
        for text in descriptions {
            let region = try Self.region(text)
            new.append(region)
            dialogue.show("Made the region \(region.displayName).")
        }
        for text in addresses {
            let region = try Self.region(text)
            new.append(region)
            dialogue.show("Made the region \(region.displayName), so that this gateway listens for its address.")
        }
        guard !(copied + new).isEmpty || !imported.isEmpty else { return }
        try StoreEditor.edit(stateDirectory, of: base, within: limit(of: base)) { regions in
            var regions = regions
            var changes = copied.map { RegionChange.set($0, isRIDDerived: false) } + imported
            regions.apply(changes)
            for region in new {
                guard case .new(let added) = RegionAddition(region, to: regions) else { continue }
                changes.append(.set(added, isRIDDerived: false))
                regions.apply([.set(added, isRIDDerived: false)])
            }
            return changes
        }
    }
}
