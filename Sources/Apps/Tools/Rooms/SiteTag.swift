import Base
import JSON
import SiteProtocol
import System

/// A tag of a site, as its retained state describes it.
struct SiteTag {
    let id: String
    /// The members of the retained state, as published.
    let state: JSONValue
    private let published: PublishedTag?

    init(id: String, state: JSONValue) {
        (self.id, self.state) = (id, state)
        published = PublishedTag(state.bytes)
    }

    var name: String { published.flatMap { $0.name.isEmpty ? nil : $0.name } ?? id }

    var json: JSONValue {
        var members = state.object ?? [:]
        members["id"] = .string(id)
        return .object(members)
    }

    var isHome: Bool { published?.isHome == true }

    /// The room, or where the tag is instead.
    var place: String {
        if isHome { return published?.room?.name ?? "at home" }
        return published?.lastRoom.map { "away, last in \($0.name)" } ?? "away"
    }

    /// The id of the room in which it is; nil: in none.
    var roomID: String? { published?.room?.id }

    /// Present confidence in the room; empty for a tag that is away.
    var confidence: String { isHome ? published.map { "\($0.percent) %" } ?? "" : "" }

    /// What to do about the battery; nil: nothing is known to be wrong with it.
    var batteryAdvice: String? { published?.lowBattery.map { "the battery of \(name) is low, \($0) %: replace it" } }

    /// How long the tag has been there.
    func age(now: Int64) -> String { published.flatMap { Self.span(since: $0.since, now: now) } ?? "" }

    /// Where the tag is, and where it was last.
    func sentences(now: Int64) -> String {
        guard let published else { return Terminal.printable("The state of \(name) cannot be read.") }
        let since = Self.span(since: published.since, now: now).map { " for \($0)" } ?? ""
        let last = published.lastRoom.map { " It was last in \($0.name)." } ?? ""
        var text: String
        if let room = published.room {
            text = "\(name) is in \(room.name)\(since), \(published.percent) % sure."
        } else if published.isHome {
            text = "\(name) is at home\(since); the room is not known yet.\(last)"
        } else {
            text = "\(name) is away\(since).\(last)"
            if let heard = published.lastHeard {
                let ago = Self.span(since: heard, now: now).map { ", \($0) ago" } ?? ""
                text += " A gateway last heard it on \(TimeText.utc(heard)) (UTC)\(ago)."
            }
        }
        if let percent = published.lowBattery { text += " Its battery is low, \(percent) %." }
        return Terminal.printable(text)
    }

    /// nil for an unknown time.
    private static func span(since: Int64, now: Int64) -> String? {
        guard since > 0 else { return nil }
        let seconds = now - min(now, since)
        return switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3600: "\(seconds / 60) min"
        case ..<86_400: "\(seconds / 3600) h \(seconds / 60 % 60) min"
        default: "\(seconds / 86_400) d \(seconds / 3600 % 24) h"
        }
    }
}
