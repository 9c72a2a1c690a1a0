import Base
import Glibc
import System

/// `rooms`: determines the room of each tag from the readings of all gateways of a site.
enum RoomsCommand {
    static let specification = CommandSpecification(
        "rooms",
        operands:
            "run | status | find TAG | tags ACTION | gateways ACTION | learn ROOM | rename OLD NEW | forget ROOM | history | clear | replay FILE… | compare FILE…",
        words: [("tags", RegionsCommand.actions + ["adopt"]), ("gateways", RoomsGatewaysCommand.actions)],
        "find the room of each tag from the readings of several gateways",
        options: [
            OptionSpecification(
                "tag", "NAME",
                with: [("learn", "the tag to carry through the room"), ("history", "show only this tag")]),
            OptionSpecification(
                "seconds", "SECONDS", with: [("learn", "how long to learn (default 120; 0 ends a run)")]),
            OptionSpecification(
                "new", nil, with: [("learn", "make a room that does not exist yet, without a question")]),
            OptionSpecification("rid", "ID", with: [("tags add", "the id of the tag (default: from its name)")]),
            OptionSpecification("erase", nil, with: [("tags remove", "also delete the tag's history")]),
            OptionSpecification(
                "since", "TIME", with: [("history", "start at this time, such as 2h, 3d or 2026-01-31T12:00 (UTC)")]),
            OptionSpecification(TimeText.Zone.option, nil, with: [("history", TimeText.Zone.help)]),
            OptionSpecification("csv", nil, with: [("history", "print comma-separated values")]),
            OptionSpecification(
                "tail", "SECONDS", with: [("replay", "continue virtual time after the last line")]),
            OptionSpecification(
                "truth", "FILE", with: [("compare", "where tags were: lines of TIME,TAG,ROOM (UTC)")]),
        ],
        examples: [
            (
                "ibeacon-gateway rooms run",
                "run the rooms service in the foreground, as ibeacon-gateway-rooms.service does"
            ),
            ("ibeacon-gateway rooms status", "show the room of each tag, and the gateways, from any machine"),
            ("ibeacon-gateway rooms find Keys", "say where a tag is, or where it was last and when it was last heard"),
            (
                "sudo ibeacon-gateway rooms tags add 'Jane:CA271EAE-5FA8-4E80-8F08-2A302A95A959:1:7'",
                "add a tag, or give Jane's tag this beacon, on the machine of the rooms service; list, remove, import and export work as for regions"
            ),
            (
                "sudo ibeacon-gateway rooms tags adopt",
                "let the service of this machine take the site's list of tags, if it has none or lost it"
            ),
            ("ibeacon-gateway rooms gateways", "show the gateways, their problems, and what to do"),
            (
                "ibeacon-gateway rooms gateways remove attic-pi",
                "remove a gateway that no longer exists, and its entities"
            ),
            (
                "ibeacon-gateway rooms learn Kitchen --tag Jane",
                "learn the kitchen; carry the tag through it for two minutes"
            ),
            (
                "ibeacon-gateway rooms rename Hall Lounge",
                "keep what was learned when a room gets another name, and only some of its gateways name it"
            ),
            (
                "ibeacon-gateway rooms gateways moved hall-pi",
                "say that a gateway was carried to the room that it names now, and that no room was renamed"
            ),
            (
                "ibeacon-gateway rooms forget Kitchen",
                "delete what was learned about the kitchen; after a change in it, before it is learned again"
            ),
            (
                "sudo ibeacon-gateway rooms history --tag Jane --since 2d",
                "show where Jane was, on the machine of the rooms service"
            ),
            ("sudo ibeacon-gateway rooms tags remove jane --erase", "remove a tag and the history of where it was"),
            ("ibeacon-gateway rooms clear", "turn rooms off at the broker, after the service was stopped"),
            (
                "ibeacon-gateway rooms replay house.jsonl --config rooms.json",
                "every message that the rooms service would publish, one JSON line each"
            ),
            (
                "ibeacon-gateway rooms compare house.jsonl",
                "how often this program, Bermuda, mqtt_room and the strongest gateway would have changed the room"
            ),
            (
                "mosquitto_sub -t 'ibeacon-rooms/#' -t 'ibeacon-gateway/+/availability' -F '%j' >house.jsonl",
                "make such a recording"
            ),
        ])

    private static let actions = [
        "run", "status", "find", "tags", "gateways", "learn", "rename", "forget", "history", "clear", "replay",
        "compare",
    ]

    static func run(_ arguments: Arguments) throws -> ExitCode {
        switch arguments.operands.first {
        case "run": return try RoomsRunCommand.run(arguments)
        case "find": return try RoomsFindCommand.run(arguments)
        case "status": return try RoomsStatusCommand.run(arguments)
        case "tags" where arguments.operands.dropFirst().first == "adopt": return try RoomsAdoptCommand.run(arguments)
        case "tags": return try RegionsCommand.run(arguments, on: try .tags(arguments))
        case "gateways": return try RoomsGatewaysCommand.run(arguments)
        case "forget": return try RoomsForgetCommand.run(arguments)
        case "history": return try RoomsHistoryCommand.run(arguments)
        case "clear": return try RoomsClearCommand.run(arguments)
        case "rename": return try RoomsRenameCommand.run(arguments)
        case "learn": return try RoomsLearnCommand.run(arguments)
        case "replay": return try RoomsReplayCommand.run(arguments)
        case "compare": return try RoomsCompareCommand.run(arguments)
        case nil: throw Failure(.usage, "name the action: \(actions.joined(separator: ", "))")
        case let word?:
            throw Failure(.usage, "unknown command 'rooms \(word)'\(hint(for: word, among: actions))")
        }
    }
}
