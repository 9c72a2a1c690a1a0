/// The gateways of a site as a table, and what the survey says of them.
struct SiteGatewayTable {
    let gateways: [SiteGateway]

    var text: String {
        guard !gateways.isEmpty else {
            return "no gateway has announced itself; each needs the same broker and site"
        }
        let isSurveyed = gateways.contains { $0.asked != nil }
        var titles = ["GATEWAY", "ROOM", "STATE", "SCANNER", "VERSION"]
        if isSurveyed { titles.append("BEACON") }
        let rows = gateways.map { isSurveyed ? $0.row + [$0.beacon] : $0.row }
        return Terminal.table(titles, rows)
    }
}
