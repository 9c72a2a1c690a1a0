import RoomRules

/// Belief over time for one session: the probability of each room as a filled line, with the true room behind it and the
/// reported one as a bar.
struct Picture {
    let home: Home
    let session: Session
    let beliefs: [(time: Double, probabilities: [Float])]
    let reports: [Report]

    private static let width = 900.0
    private static let row = 56.0
    private static let left = 90.0

    private var begin: Double { session.moments.first?.time ?? 0 }
    private var end: Double { session.moments.last?.time ?? 1 }

    private func x(_ time: Double) -> String {
        fixed(Self.left + Self.width * (max(begin, min(end, time)) - begin) / max(1, end - begin), 1)
    }

    private func bar(_ from: Double, _ to: Double, top: Double, height: Double, _ colour: String) -> String {
        let width = (max(begin, min(end, to)) - max(begin, from)) * Self.width / max(1, end - begin)
        guard width > 0 else { return "" }
        return
            #"<rect x="\#(x(from))" y="\#(fixed(top, 1))" width="\#(fixed(width, 1))" height="\#(fixed(height, 1))" "#
            + "fill=\"\(colour)\"/>\n"
    }

    var svg: String {
        let height = Double(home.rooms.count) * Self.row + 60
        var text = """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(fixed(Self.left + Self.width + 20, 0))" \
            height="\(fixed(height, 0))" font-family="sans-serif" font-size="11">
            <rect width="100%" height="100%" fill="white"/>
            <text x="10" y="18">\(home.name), session \(session.name): probability of each room (blue), where the tag was \
            (grey), what was reported (red)</text>

            """
        for (room, name) in home.rooms.enumerated() { text += row(room, name) }
        for time in stride(from: begin, through: end, by: 30) {
            text += #"<text x="\#(x(time))" y="\#(fixed(height - 12, 0))" text-anchor="middle">"#
            text += "\(fixed(time - begin, 0)) s</text>\n"
        }
        return text + "</svg>\n"
    }

    private func row(_ room: Int, _ name: String) -> String {
        let top = 30 + Double(room) * Self.row
        let bottom = top + Self.row - 12
        var text = #"<text x="10" y="\#(fixed(top + 24, 0))">\#(name)</text>"# + "\n"
        for stay in session.stays where stay.room == room {
            text += bar(stay.from, stay.to, top: top, height: Self.row - 12, "#ddd")
        }
        var points = ["\(x(begin)),\(fixed(bottom, 1))"]
        for belief in beliefs {
            let height = Double(belief.probabilities[room]) * (Self.row - 12)
            points.append("\(x(belief.time)),\(fixed(bottom - height, 1))")
        }
        points.append("\(x(end)),\(fixed(bottom, 1))")
        let outline = points.joined(separator: " ")
        text += "<polygon points=\"\(outline)\" fill=\"#247\" fill-opacity=\"0.5\"/>\n"
        for (index, report) in reports.enumerated() where report.room == room {
            let until = index + 1 < reports.count ? reports[index + 1].time : end
            text += bar(report.time, until, top: bottom + 2, height: 4, "#c22")
        }
        return text
    }
}
