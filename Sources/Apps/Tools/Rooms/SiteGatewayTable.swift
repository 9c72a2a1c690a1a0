import RoomsApp
import SiteProtocol

/// The gateways of a site as a table, and what the survey says of them.
struct SiteGatewayTable {
    let gateways: [SiteGateway]
    /// The mean of what the survey lets expect of the rooms, hundredths; nil: nothing can be said.
    let percent: Int?

    var text: String {
        guard !gateways.isEmpty else {
            return "no gateway has announced itself; each needs the same broker and site"
        }
        let isSurveyed = gateways.contains { $0.asked != nil }
        var titles = ["GATEWAY", "ROOM", "STATE", "SCANNER", "VERSION"]
        if isSurveyed { titles.append("BEACON") }
        let rows = gateways.map { isSurveyed ? $0.row + [$0.beacon] : $0.row }
        let table = Terminal.table(titles, rows)
        guard let percent else { return table }
        return table + "\n\n"
            + Terminal.printable(SurveyText.estimate(percent, rooms: rooms) + ". " + SurveyText.meaning)
    }

    /// The rooms with their figures.
    private var rooms: [(name: String, percent: Int)] {
        var found: [String: Int] = [:]
        for gateway in gateways {
            if let room = gateway.room, let percent = gateway.survey?.percent { found[room] = percent }
        }
        return found.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
