import Base
import JSON
package import SiteProtocol

extension RoomQuestion {
    /// What is to be decided, for users.
    package var text: String {
        let (names, verb) = (gateways.joined(separator: ", "), gateways.count == 1 ? "names" : "name")
        return
            "\(names) \(verb) the room '\(to.name)', and '\(from.name)' before. What was trained with it is set aside until it is known "
            + "why"
    }

    /// The answers.
    package var remedy: String {
        let moved = gateways.first.map { "rooms gateways moved \(ShellWord.of($0))" } ?? ""
        return
            "if '\(from.name)' was renamed: sudo ibeacon-gateway rooms rename \(ShellWord.of(from.name)) \(ShellWord.of(to.name)) - if the gateway was "
            + "carried there: sudo ibeacon-gateway \(moved)"
    }

    /// Why the answer that a gateway was carried is refused; nil if that is the question.
    package static func refusal(ofMoving gateway: String, among questions: [RoomQuestion]) -> String? {
        guard !questions.contains(where: { $0.gateways.contains(gateway) }) else { return nil }
        return "there is no question whether \(shortened(gateway)) was carried"
    }
}

extension RenamingRefusal {
    /// The reason, for users.
    package var text: String {
        switch self {
        case .noRoom: "there is no such room"
        case .sameRoom: "both names are forms of one name"
        case .named(let gateways):
            "\(gateways.joined(separator: ", ")) still \(gateways.count == 1 ? "calls" : "call") it that; write the new name as 'room' in the "
                + "configuration of each, and what was trained follows"
        case .notTrained: "nothing was trained in it, so there is nothing to keep"
        case .otherIsTrained:
            "the other room has a training of its own, and two trainings are not merged; delete one of them with 'rooms forget'"
        }
    }
}
