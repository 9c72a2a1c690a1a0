import Base
import Glibc
import System

/// `cards`: a folder for each row of a table.
enum CardsCommand {
    static let specification = CommandSpecification(
        "cards", operands: "TABLE DIR", "write the files of a card for each row of a table of rooms",
        options: CardTemplate.options,
        examples: [
            (
                "ibeacon-gateway cards rooms.csv --config site.json --archive URL --archive-key archive.asc cards",
                "rooms.csv has the columns room, and if wanted name, username and password"
            )
        ])

    static func run(_ arguments: Arguments) throws -> ExitCode {
        guard arguments.operands.count == 2 else {
            throw Failure(.usage, "name the table and the folder: ibeacon-gateway cards rooms.csv … DIR")
        }
        let (file, folder) = (arguments.operands[0], arguments.operands[1])
        let bytes = try FileAccess.readNamed(file)
        let template = try CardTemplate(arguments, now: Int64(time(nil)))
        // All are made before the first is written.
        let cards = try cards(in: bytes, named: file, template)
        let writer = CardWriter(replaces: arguments.has("force"))
        try writer.prepare(folder, isCard: false)
        for card in cards { try writer.write(card, to: "\(folder)/\(card.hostName)") }
        if let first = cards.first { try CardWriter.check("\(folder)/\(first.hostName)") }
        guard !arguments.has("quiet") else { return .ok }
        let names = ShellWord.of(cards.map(\.name).joined(separator: ","))
        let settings = arguments.value("config").map { " --config \(ShellWord.of($0))" } ?? ""
        Terminal.print(
            """
            Wrote \(cards.count) cards into \(folder), each in the folder of its host name.
            \(CardWriter.remark(on: cards))
            Their rights at the broker: ibeacon-gateway acl\(settings) --gateways \(names)
            """)
        return .ok
    }

    /// The cards of a table, in its order.
    static func cards(
        in bytes: [UInt8], named file: String, _ template: CardTemplate
    ) throws(Failure) -> [BootCard] {
        do throws(CSVTable.Problem) {
            return try cards(in: try CSVTable(bytes), template)
        } catch {
            throw Failure(.badData, "\(file), line \(error.line): \(error.reason)")
        }
    }

    private static let columns = ["room", "name", "username", "password"]

    private static func cards(
        in table: CSVTable, _ template: CardTemplate
    ) throws(CSVTable.Problem) -> [BootCard] {
        if let unknown = table.columns.first(where: { !columns.contains($0) }) {
            let hint = suggestion(for: unknown, among: columns).map { "; did you mean '\($0)'?" } ?? ""
            let known = "the columns are \(columns.joined(separator: ", "))"
            throw CSVTable.Problem(
                line: 1, reason: "there is no column '\(unknown)'\(hint.isEmpty ? "; \(known)" : hint)")
        }
        guard table.columns.contains("room") else {
            throw CSVTable.Problem(line: 1, reason: "the first line names no column 'room'")
        }
        guard !table.rows.isEmpty else { throw CSVTable.Problem(line: 1, reason: "no room follows the first line") }
        // What no two cards may share, with the line that has it.
        var hosts: [String: Int] = [:]
        var users: [ExactString: Int] = [:]
        var cards: [BootCard] = []
        for row in table.rows {
            let entry = try entry(table, row)
            let card: BootCard
            do throws(Failure) { card = try template.card(for: entry) } catch {
                throw CSVTable.Problem(line: row.line, reason: error.message)
            }
            if let other = hosts.updateValue(row.line, forKey: card.hostName) {
                let reason = "the gateway '\(card.name)' has the host name of line \(other), '\(card.hostName)'; "
                throw CSVTable.Problem(
                    line: row.line, reason: reason + "give each a name of its own in the column 'name'")
            }
            if let user = entry.login?.name, let other = users.updateValue(row.line, forKey: ExactString(user)) {
                let reason = "the login '\(user)' is that of line \(other); a login of all belongs into --config"
                throw CSVTable.Problem(line: row.line, reason: reason)
            }
            cards.append(card)
        }
        return cards
    }

    private static func entry(_ table: CSVTable, _ row: CSVTable.Row) throws(CSVTable.Problem) -> CardTemplate.Entry {
        guard let room = table.cell("room", of: row) else {
            throw CSVTable.Problem(line: row.line, reason: "the room has no name")
        }
        var entry = CardTemplate.Entry(name: table.cell("name", of: row), room: room)
        switch (table.cell("username", of: row), table.cell("password", of: row)) {
        case (nil, nil): break
        case (let user, let password?):
            entry.login = (user ?? entry.name ?? CardTemplate.name(of: room), Secret(password))
        case (let user?, nil):
            throw CSVTable.Problem(line: row.line, reason: "the login '\(user)' has no password")
        }
        return entry
    }
}
