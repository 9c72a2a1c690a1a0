import Base
import JSON
import RoomMessages
package import Rooms
import SiteProtocol
import Storage

extension RoomMessage {
    /// The kind decides which messages a full outbox drops first.
    var kind: MessageKind {
        if topic.hasSuffix("/event") { return .transition }
        return topic.hasPrefix("owntracks/") ? .location : .state
    }

    /// A line for the log about the state of a tag; nil for any other message.
    var summary: String? {
        guard case .tag(_, let id) = RoomTopic(topic), let json = try? JSONValue(parsing: payload) else { return nil }
        let name = json["name"]?.string ?? id
        guard json["home"]?.asBool == true else { return "\(name) is away" }
        return json["roomName"]?.string.map { "\(name) is in \($0)" } ?? "\(name) is at home"
    }
}

extension HistoryEntry {
    /// A visit in the form of a transition of the tag, whose region is the room.
    init(_ visit: RoomVisit, happened: MonotonicInstant) {
        self.init(
            tracker: visit.topic, rid: visit.room.id, name: visit.room.name,
            event: visit.event == .begins ? .enter : .leave, beacon: nil, timestamp: visit.timestamp, stamp: .exact,
            happened: happened)
    }
}

extension RoomEngine.Finding {
    /// A description for users, with advice.
    package var text: String {
        switch self {
        case .deaf(let gateway):
            "gateway \(gateway) receives nothing while others do; check its radio and its antenna"
        case .hears(let gateway): "gateway \(gateway) receives again"
        case .shared(let gateway):
            "several gateways are called \(gateway), so their readings cannot be told apart; give each its own deviceId"
        case .tooManyGateways: "there are more gateways than a site can have; the latest ones are ignored"
        case .tooManyRooms: "there are more rooms than a site can have; the latest ones are ignored"
        }
    }
}
