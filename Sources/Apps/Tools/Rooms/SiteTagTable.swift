import System

/// The tags of a site as a table.
struct SiteTagTable {
    let tags: [SiteTag]
    /// The floors of rooms, by the room's id. Where none is known there is no column for it.
    let floors: [String: Int]

    func text(now: Int64) -> String {
        guard !floors.isEmpty else {
            return Terminal.table(
                ["TAG", "ROOM", "FOR", "CONFIDENCE"],
                tags.map { [$0.name, $0.place, $0.age(now: now), $0.confidence] })
        }
        return Terminal.table(
            ["TAG", "ROOM", "FLOOR", "FOR", "CONFIDENCE"],
            tags.map { tag in
                let floor = tag.roomID.flatMap { floors[$0] }.map(String.init) ?? ""
                return [tag.name, tag.place, floor, tag.age(now: now), tag.confidence]
            })
    }
}
