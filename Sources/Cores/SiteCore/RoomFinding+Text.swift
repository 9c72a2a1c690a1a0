package import Rooms
import SiteProtocol

extension RoomEngine.Finding {
    /// A description for users, with advice.
    package var text: String {
        switch self {
        case .deaf(let gateway):
            "gateway \(gateway) receives nothing while others do; check its radio and its antenna"
        case .hears(let gateway): "gateway \(gateway) receives again"
        case .shared(let gateway):
            "several gateways are called \(gateway), so their readings cannot be told apart; give each its own deviceId"
        case .renamed(let former, let room, byPerson: true):
            "the room \(former.name) is called \(room.name) now, and what was learned of it is kept"
        case .renamed(let former, let room, byPerson: false):
            "the room \(former.name) is called \(room.name) now, because no gateway calls it anything else; what was trained is kept. If the "
                + "gateways were carried into another room instead, train both again ('rooms forget', then 'rooms learn')"
        case .notRenamed(let former, let room, let refusal):
            "the room \(former.name) was not renamed to \(room.name): \(refusal.text)"
        case .asked(let question): "\(question.text): \(question.remedy)"
        case .stay(let gateways):
            "\(gateways.joined(separator: ", ")): what was measured before counts again, because the room was renamed"
        case .tooManyGateways(let newest, let idle):
            "a site has at most \(RoomEngine.mostGateways) gateways, and \(newest) is one more. Never heard, or silent for longest: "
                + "\(idle.joined(separator: ", ")). Remove those that do not exist ('rooms gateways remove'), and find the "
                + "client that publishes in their names"
        case .tooManyRooms(let newest, let idle):
            "a site has at most \(RoomEngine.mostRooms) rooms, and \(newest) is one more. Without a gateway that was heard: "
                + (idle.isEmpty ? "none" : idle.joined(separator: ", "))
                + ". Forget those that do not exist ('rooms forget'), and find the client that writes them to 'learn' or to "
                + "a gateway's card"
        case .changed(let gateway, let change, let since):
            change.text(of: gateway, since: since.map { SurveyHealth.Change.time($0, now: $0) }) + " "
                + change.remedy(of: gateway)
        case .floorChanged(let tag, let from, let to):
            "\(tag) went from \(from.name) to \(to.name), where the named stairs do not lead: its readings said so for a "
                + "minute. Check 'rooms.stairs' and the floors of both rooms, and whether a gateway stands in another room than it says"
        case .sameAgain(let gateway): "the gateway \(gateway) hears and is heard by its neighbours as before"
        }
    }
}
