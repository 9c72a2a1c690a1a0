import JSON
package import RoomRules
package import SiteProtocol

/// Where tags were, as a person wrote it down: lines of `TIME,TAG,ROOM`. Each holds until the next one of its tag; an empty room means
/// that it is not known where the tag was from then on.
package struct RoomTruth: Sendable {
    /// Seconds since 1970, the tag's name or id, and the room; nil: not known.
    private typealias Entry = (time: Double, tag: String, room: RoomName?)

    private var entries: [Entry] = []

    /// Without a second form of a name, sorted.
    package var rooms: [RoomName] {
        Dictionary(entries.compactMap(\.room).map { ($0.key, $0) }) { first, _ in first }.values
            .sorted { $0.name < $1.name }
    }

    /// As they are written, sorted.
    package var tags: [String] { Set(entries.map(\.tag)).sorted() }

    /// Blank lines, and those that begin with `#`, are skipped.
    ///
    /// - Parameter text: Times are seconds since 1970, or as `2026-11-21T23:04:23` in UTC.
    /// - Throws: The number of the first line that is none, and why.
    package init(_ text: String) throws(FeedError) {
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        for (index, line) in lines.enumerated() {
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
            let room = RoomName(fields[2])
            guard room != nil || fields[2].isEmpty else {
                throw FeedError("line \(index + 1): '\(shortened(fields[2]))' is no name of a room")
            }
            entries.append((time, fields[1], room))
        }
        entries.sort { $0.time < $1.time }
    }

    private static func trimmed(_ text: Substring) -> String {
        let isBlank = { (character: Character) in character.isWhitespace }
        let start = text.drop(while: isBlank)
        guard let end = start.lastIndex(where: { !isBlank($0) }) else { return "" }
        return String(start[...end])
    }

    /// The stays of a tag in the parts of a recording, in virtual seconds and in parts without a gap.
    ///
    /// - Parameters:
    ///   - rooms: The number of each room, by the key of its name.
    ///   - parts: In the order of time. What was true in a pause is left out.
    package func stays(
        of name: String, id: String, rooms: [String: Int], in parts: [RecordedPart]
    ) -> [[RoomStay]] {
        let own = entries.filter { Self.isTag($0.tag, name: name, id: id) }
        return parts.flatMap { Self.stays(own, rooms, in: $0) }
    }

    /// Whether a person means the tag by this word.
    package static func isTag(_ word: String, name: String, id: String) -> Bool {
        let word = word.lowercased()
        return word == name.lowercased() || word == id.lowercased()
    }

    private static func stays(_ entries: [Entry], _ rooms: [String: Int], in part: RecordedPart) -> [[RoomStay]] {
        let offset = Double(part.offset) / 1e9
        let (begin, end) = (part.begin.virtualSeconds, part.end.virtualSeconds)
        var stays: [[RoomStay]] = []
        var isGap = true
        for (index, entry) in entries.enumerated() {
            let next = index + 1 < entries.count ? entries[index + 1].time - offset : end
            let (from, to) = (max(begin, entry.time - offset), min(end, next))
            guard from < to else { continue }
            guard let room = entry.room.flatMap({ rooms[$0.key] }) else {
                isGap = true
                continue
            }
            if isGap { stays.append([]) }
            isGap = false
            stays[stays.count - 1].append((room, from, to))
        }
        return stays
    }
}
