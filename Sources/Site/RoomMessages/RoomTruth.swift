package import RoomRules
package import SiteProtocol

/// Where tags were, as a person wrote it down: lines of `TIME,TAG,ROOM`. Each holds until the next one of its tag; an empty room means
/// that it is not known where the tag was from then on.
package struct RoomTruth: Sendable {
    /// Seconds since 1970, the tag's name or id in lower case, and the room; nil: not known.
    private var entries: [(time: Double, tag: String, room: String?)] = []

    package var rooms: Set<String> { Set(entries.compactMap(\.room)) }
    package var tags: Set<String> { Set(entries.map(\.tag)) }

    /// Blank lines, and those that begin with `#`, are skipped.
    ///
    /// - Parameter text: Times are seconds since 1970, or as `2026-11-21T23:04:23` in UTC.
    /// - Throws: The number of the first line that is none, and why.
    package init(_ text: String) throws(FeedError) {
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let trimmed = Self.trimmed(line)
            guard !trimmed.isEmpty, !trimmed.hasPrefix("#") else { continue }
            let fields = trimmed.split(separator: ",", maxSplits: 2, omittingEmptySubsequences: false).map {
                Self.trimmed($0)
            }
            guard fields.count == 3, !fields[1].isEmpty else {
                throw FeedError("line \(index + 1): it is not TIME,TAG,ROOM")
            }
            let time = Double(fields[0]) ?? RecordedMessage.time(fields[0]).map { Double($0) / 1e9 }
            guard let time, time.isFinite else {
                throw FeedError("line \(index + 1): '\(fields[0])' is not a time such as 2026-11-21T23:04:23")
            }
            entries.append((time, fields[1].lowercased(), fields[2].isEmpty ? nil : fields[2]))
        }
        entries.sort { $0.time < $1.time }
    }

    private static func trimmed(_ text: Substring) -> String {
        let isBlank = { (character: Character) in character.isWhitespace }
        let start = text.drop(while: isBlank)
        guard let end = start.lastIndex(where: { !isBlank($0) }) else { return "" }
        return String(start[...end])
    }

    /// The stays of a tag, in parts without a gap.
    ///
    /// - Parameters:
    ///   - rooms: The number of each room.
    ///   - end: When the last stay ends, seconds since 1970.
    package func stays(of name: String, id: String, rooms: [String: Int], until end: Double) -> [[RoomStay]] {
        let names = [name.lowercased(), id.lowercased()]
        let own = entries.filter { names.contains($0.tag) }
        var parts: [[RoomStay]] = []
        var isGap = true
        for (index, entry) in own.enumerated() where entry.time < end {
            let until = index + 1 < own.count ? min(end, own[index + 1].time) : end
            guard let room = entry.room.flatMap({ rooms[$0] }) else {
                isGap = true
                continue
            }
            if isGap { parts.append([]) }
            isGap = false
            parts[parts.count - 1].append((room, entry.time, until))
        }
        return parts
    }
}
