import Glibc
import System

/// `card`: the files that make a blank card the gateway of a room, without a terminal.
enum CardCommand {
    static let specification = CommandSpecification(
        "card", operands: "DIR", "write the files that make a card of Raspberry Pi OS the gateway of a room",
        options: [
            OptionSpecification("room", "NAME", "the room of the gateway"),
            OptionSpecification("name", "NAME", "its name in topics, deviceId (default: from the room)"),
            OptionSpecification(
                "username", "NAME", "its user name at the broker (default: its name, if there is a password)"),
            OptionSpecification("password-file", "FILE", "a file whose first line is its password at the broker"),
        ] + CardTemplate.options,
        examples: [
            (
                "ibeacon-gateway card --room Kitchen --host broker.lan --archive URL --archive-key archive.asc kitchen",
                "a folder 'kitchen' for a machine with a cable; copy its files to the boot partition of the card"
            ),
            (
                "ibeacon-gateway card --room Hall --config site.json --password-file hall.pw --wifi Home --country DE … hall",
                "with the settings of the site, a login and Wi-Fi, whose password is asked for"
            ),
            (
                "ibeacon-gateway card --room Attic --config site.json … /media/jane/bootfs",
                "right onto the card of this computer"
            ),
        ])

    static func run(_ arguments: Arguments) throws -> ExitCode {
        guard let folder = arguments.operands.first, arguments.operands.count == 1 else {
            throw Failure(.usage, "name the folder: ibeacon-gateway card --room Kitchen … DIR")
        }
        guard let room = arguments.value("room"), !room.isEmpty else {
            throw Failure(.usage, "name the room: ibeacon-gateway card --room Kitchen … \(folder)")
        }
        let template = try CardTemplate(arguments, now: Int64(time(nil)))
        var entry = CardTemplate.Entry(name: arguments.value("name"), room: room)
        if arguments.has("username") || arguments.has("password-file") {
            let password = try CardTemplate.secret(
                arguments.value("password-file"), "Password at the broker", option: "password-file")
            entry.login = (arguments.value("username") ?? entry.name ?? CardTemplate.name(of: room), password)
        }
        let card = try template.card(for: entry)
        try CardWriter(replaces: arguments.has("force")).write(card, to: folder)
        try CardWriter.check(folder)
        guard !arguments.has("quiet") else { return .ok }
        let names = card.contents.map(\.name).joined(separator: ", ")
        let isOnCard = CardWriter.isBootPartition(folder)
        let next =
            isOnCard
            ? "That is the boot partition of a card: eject it, and put the card into the machine. It needs Raspberry Pi OS 13 (trixie)."
            : "Copy them onto the boot partition (bootfs) of a card with Raspberry Pi OS 13 (trixie), in the place of those that are there."
        Terminal.print(
            """
            Wrote \(names) into \(folder), for the gateway '\(card.name)' in \(room).
            \(next)
            \(CardWriter.remark(on: [card], isOnCard: isOnCard))
            What is missing after the first boot stands in ibeacon-gateway.txt on that partition.
            """)
        return .ok
    }
}
