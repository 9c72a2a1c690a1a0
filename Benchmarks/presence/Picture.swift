import Glibc

/// The trade-off as a picture: how late against how wrong, one panel for each workload.
///
/// Both axes are logarithmic. Rates under one in the whole recording stand on the lowest line.
func svg(_ panels: [Panel]) -> String {
    let columns = 2
    let rows = (panels.count + columns - 1) / columns
    var text = """
        <svg xmlns="http://www.w3.org/2000/svg" width="\(columns * 460)" height="\(rows * 330 + 30)" \
        font-family="sans-serif" font-size="11">
        <rect width="100%" height="100%" fill="white"/>
        <text x="20" y="20">False leaves per hour (up) against median seconds to leave (right). \
        Line: fixed time-outs. Dashed: an oracle that knows interval and share heard.</text>

        """
    for (index, panel) in panels.enumerated() {
        let left = index % columns * 460 + 50
        let top = index / columns * 330 + 50
        text += "<g transform=\"translate(\(left),\(top))\">\n\(drawing(of: panel))</g>\n"
    }
    return text + "</svg>\n"
}

private let width = 390.0
private let height = 240.0

private func x(_ seconds: Double) -> Double { width * log(max(1, min(200, seconds))) / log(200) }

private func y(_ perHour: Double) -> Double {
    let low = log(0.0001)
    return height * (1 - (log(max(0.0001, min(100, perHour))) - low) / (log(100) - low))
}

private func drawing(of panel: Panel) -> String {
    var text = "<text x=\"0\" y=\"-8\" font-weight=\"bold\">\(panel.workload.name)</text>\n"
    for seconds in [1.0, 2, 5, 10, 20, 50, 100, 200] {
        let place = fixed(x(seconds), 1)
        text += "<line x1=\"\(place)\" y1=\"0\" x2=\"\(place)\" y2=\"\(height)\" stroke=\"#ddd\"/>"
        text += "<text x=\"\(place)\" y=\"\(height + 14)\" text-anchor=\"middle\">\(fixed(seconds, 0))</text>\n"
    }
    for (perHour, label) in [
        (0.0001, "0"), (0.001, "0.001"), (0.01, "0.01"), (0.1, "0.1"), (1, "1"), (10, "10"), (100, "100"),
    ] {
        let place = fixed(y(perHour), 1)
        text += "<line x1=\"0\" y1=\"\(place)\" x2=\"\(width)\" y2=\"\(place)\" stroke=\"#ddd\"/>"
        text += "<text x=\"-4\" y=\"\(place)\" text-anchor=\"end\">\(label)</text>\n"
    }
    text += polyline(panel.fixedCurve, "stroke=\"#888\"")
    text += polyline(panel.oracleCurve, "stroke=\"#2a7\" stroke-dasharray=\"4 3\"")
    for (number, point) in panel.points.enumerated() {
        let (across, down) = (fixed(x(point.score.median), 1), fixed(y(point.score.falseLeavesPerHour), 1))
        let colour = number == 0 ? "#c22" : "#247"
        text += "<circle cx=\"\(across)\" cy=\"\(down)\" r=\"\(number == 0 ? 5 : 3)\" fill=\"\(colour)\"/>"
        text +=
            "<text x=\"\(across)\" y=\"\(down)\" dx=\"6\" dy=\"-4\" fill=\"\(colour)\" font-size=\"9\">\(point.name)</text>\n"
    }
    return text
}

private func polyline(_ scores: [Score], _ style: String) -> String {
    let points = scores.map { "\(fixed(x($0.median), 1)),\(fixed(y($0.falseLeavesPerHour), 1))" }
    return "<polyline fill=\"none\" \(style) points=\"\(points.joined(separator: " "))\"/>\n"
}
