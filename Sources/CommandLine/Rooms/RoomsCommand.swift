import Base
import Glibc
import JSON
import System

/// `rooms`: which room each tag is in, from what all gateways of a house hear.
enum RoomsCommand {
    static let specification = CommandSpecification(
        "rooms", operands: "replay FILE…", "tell the rooms of tags from what several gateways hear",
        options: [
            OptionSpecification("tail", "SECONDS", "let virtual time run on after the last line of a recording")
        ],
        examples: [
            (
                "ibeacon-gateway rooms replay house.jsonl --config rooms.json",
                "every message that the rooms service would publish, one JSON line each"
            ),
            (
                "mosquitto_sub -t 'ibeacon-rooms/#' -t 'ibeacon-gateway/+/availability' -F '%j' >house.jsonl",
                "makes such a recording"
            ),
        ])

    static func run(_ arguments: Arguments) throws -> ExitCode {
        switch arguments.operands.first {
        case "replay": return try RoomsReplayCommand.run(arguments)
        case nil: throw Failure(.usage, "say what to do: 'rooms replay FILE…'")
        case let word?:
            let hint = suggestion(for: word, among: ["replay"]).map { "; did you mean '\($0)'?" } ?? ""
            throw Failure(.usage, "there is no command 'rooms \(word)'\(hint)")
        }
    }
}
