/// How well reports agree with the truth, by the definitions of `Benchmarks/README.md`.
struct Score {
    var rightSeconds = 0
    var seconds = 0
    var falseChanges = 0
    var delays: [Double] = []
    var never = 0
    var hours: Double = 0
    /// Time right by session.
    var sessions: [Double] = []

    /// Adds a session.
    ///
    /// - Parameter reports: When which room was reported, in the order of time.
    mutating func add(_ session: Session, _ reports: [(time: Double, room: Int)]) {
        let stays = session.stays
        guard let first = stays.first, let last = stays.last else { return }
        hours += (last.to - first.from) / 3600
        var right = 0
        var total = 0
        var next = 0
        var room = -1
        var stay = 0
        var second = first.from.rounded(.up)
        while second <= last.to {
            while next < reports.count, reports[next].time <= second {
                room = reports[next].room
                next += 1
            }
            while stay + 1 < stays.count, stays[stay + 1].from <= second { stay += 1 }
            total += 1
            if stays[stay].room == room { right += 1 }
            second += 1
        }
        rightSeconds += right
        seconds += total
        sessions.append(total > 0 ? Double(right) / Double(total) : 0)
        for report in reports where report.room >= 0 && report.time >= first.from {
            let wasThere = stays.contains {
                $0.room == report.room && $0.to > report.time - 15 && $0.from <= report.time
            }
            if !wasThere { falseChanges += 1 }
        }
        for (place, stay) in stays.enumerated().dropFirst() where stay.to - stay.from >= 4.99 {
            _ = place
            if let delay = delay(of: stay, reports) { delays.append(delay) } else { never += 1 }
        }
    }

    private func delay(of stay: (room: Int, from: Double, to: Double), _ reports: [(time: Double, room: Int)])
        -> Double?
    {
        if let before = reports.last(where: { $0.time <= stay.from }), before.room == stay.room { return 0 }
        return reports.first { $0.time > stay.from && $0.time <= stay.to && $0.room == stay.room }
            .map { $0.time - stay.from }
    }

    func percentile(_ share: Double) -> Double {
        guard !delays.isEmpty else { return .nan }
        let sorted = delays.sorted()
        let position = share * Double(sorted.count - 1)
        let low = Int(position)
        let high = min(low + 1, sorted.count - 1)
        return sorted[low] + (sorted[high] - sorted[low]) * (position - Double(low))
    }

    var right: Double { seconds > 0 ? Double(rightSeconds) / Double(seconds) : 0 }
    var falsePerHour: Double { hours > 0 ? Double(falseChanges) / hours : 0 }

    var text: String {
        "\(fixed(right, 3))  \(pad(fixed(falsePerHour, 1), 6)) /h  p50 \(pad(fixed(percentile(0.5), 1), 4)) s  p90 "
            + "\(pad(fixed(percentile(0.9), 1), 4)) s  never \(never) of \(never + delays.count)"
    }
}

func fixed(_ value: Double, _ digits: Int) -> String {
    guard value.isFinite else { return "-" }
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let whole = Int64((abs(value) * scale).rounded())
    let sign = value < 0 && whole > 0 ? "-" : ""
    guard digits > 0 else { return sign + String(whole) }
    let fraction = String(whole % Int64(scale))
    return sign + String(whole / Int64(scale)) + "." + String(repeating: "0", count: digits - fraction.count) + fraction
}

func pad(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
}
