import Base
import Glibc
import System

/// `rooms`: determines the room of each tag from the readings of all gateways of a house.
enum RoomsCommand {
    static let specification = CommandSpecification(
        "rooms",
        operands:
            "run | status | tags ACTION | gateways ACTION | learn ROOM | forget ROOM | history | clear | replay FILE…",
        words: [("tags", RegionsCommand.actions), ("gateways", RoomsGatewaysCommand.actions)],
        "tell the rooms of tags from what several gateways hear",
        options: [
            OptionSpecification(
                "tag", "NAME", "with learn: the tag that is carried through the room; with history: only this tag"),
            OptionSpecification("seconds", "SECONDS", "with learn: for how long (default: 120; 0 ends a run)"),
            OptionSpecification("rid", "ID", "with tags add: the id of the tag (default: made of its name)"),
            OptionSpecification("erase", nil, "with tags remove: delete the tag's history too"),
            OptionSpecification(
                "since", "TIME", "with history: from this time on, such as 2h, 3d or 2026-01-31T12:00 (UTC)"),
            OptionSpecification("csv", nil, "with history: comma-separated values"),
            OptionSpecification(
                "tail", "SECONDS", "with replay: let virtual time run on after the last line of a recording"),
        ],
        examples: [
            (
                "ibeacon-gateway rooms run",
                "the service of a house, in the foreground, as ibeacon-gateway-rooms.service runs it"
            ),
            ("ibeacon-gateway rooms status", "which tag is in which room, and the gateways, from any machine"),
            (
                "sudo ibeacon-gateway rooms tags add 'Jane:CA271EAE-5FA8-4E80-8F08-2A302A95A959:1:7'",
                "a tag, where the rooms service runs; tags list, remove, import and export as for regions"
            ),
            ("ibeacon-gateway rooms gateways", "the gateways, what is wrong with them, and what to do"),
            ("ibeacon-gateway rooms gateways remove attic-pi", "forget a gateway that is gone, with its entities"),
            ("ibeacon-gateway rooms learn Kitchen --tag Jane", "two minutes of walking through the kitchen"),
            ("ibeacon-gateway rooms forget Kitchen", "delete what was learned of the kitchen"),
            ("sudo ibeacon-gateway rooms history --tag Jane --since 2d", "where Jane was, where the service runs"),
            ("sudo ibeacon-gateway rooms tags remove jane --erase", "a tag, with the history of where it was"),
            ("ibeacon-gateway rooms clear", "turn rooms off at the broker, when no service runs any more"),
            (
                "ibeacon-gateway rooms replay house.jsonl --config rooms.json",
                "every message that the rooms service would publish, one JSON line each"
            ),
            (
                "mosquitto_sub -t 'ibeacon-rooms/#' -t 'ibeacon-gateway/+/availability' -F '%j' >house.jsonl",
                "makes such a recording"
            ),
        ])

    private static let actions = ["run", "status", "tags", "gateways", "learn", "forget", "history", "clear", "replay"]

    static func run(_ arguments: Arguments) throws -> ExitCode {
        switch arguments.operands.first {
        case "run": return try RoomsRunCommand.run(arguments)
        case "status": return try RoomsStatusCommand.run(arguments)
        case "tags": return try RegionsCommand.run(arguments, on: try .tags(arguments))
        case "gateways": return try RoomsGatewaysCommand.run(arguments)
        case "forget": return try RoomsForgetCommand.run(arguments)
        case "history": return try RoomsHistoryCommand.run(arguments)
        case "clear": return try RoomsClearCommand.run(arguments)
        case "learn": return try RoomsLearnCommand.run(arguments)
        case "replay": return try RoomsReplayCommand.run(arguments)
        case nil: throw Failure(.usage, "say what to do: \(actions.joined(separator: ", "))")
        case let word?:
            let hint = suggestion(for: word, among: actions).map { "; did you mean '\($0)'?" } ?? ""
            throw Failure(.usage, "there is no command 'rooms \(word)'\(hint)")
        }
    }
}
