/// What one receiver heard of one beacon that stayed.
struct Series {
    var times: [Double] = []
    var rssi: [Int] = []
    /// Seconds that the beacon was there.
    var duration: Double = 0
    /// Advertisements that were sent meanwhile.
    var sent: Int = 0
    /// Whose losses these are, as an index into the recording's receivers.
    var receiver: Int = 0
}

/// Many series of one kind, over which figures are added up.
struct Workload {
    let name: String
    /// Seconds between advertisements.
    let interval: Double
    let series: [Series]

    var hours: Double { series.reduce(0) { $0 + $1.duration } / 3600 }
}

/// Splits a recording of stays into series, one for each stay and receiver.
struct Stays {
    private struct Heard {
        let time: Double
        let rssi: Int
        let advertisement: Int
    }

    private var links: [[Heard]] = []
    /// By link.
    private var sent: [Int] = []
    /// By link.
    private var receivers: [Int] = []
    /// By link.
    private var stays: [Int] = []
    private var stayCount = 0
    private let interval: Double
    /// Silences of all receivers at once over 20 s. They are the beacon's or the recorder's, and cut out.
    private(set) var outages = 0

    /// - Parameters:
    ///   - trace: A recording in which each `truth` is one stay.
    ///   - interval: Seconds between advertisements.
    init(_ trace: Trace, interval: Double) {
        self.interval = interval
        for stay in Dictionary(grouping: trace.rows, by: \.truth).sorted(by: { $0.key < $1.key }) {
            add(stay.value, receivers: trace.receivers.count)
        }
    }

    /// Numbers the advertisements by hearing them at any receiver, so that thinning keeps each one's own losses.
    private mutating func add(_ rows: [Row], receivers: Int) {
        var own: [[Heard]] = Array(repeating: [], count: receivers)
        var number = -1
        var start = -Double.infinity
        var last = -Double.infinity
        var cut = 0.0
        for row in rows.sorted(by: { $0.time < $1.time }) {
            if last > -.infinity, row.time - last > 20 {
                outages += 1
                cut += row.time - last - interval
            }
            last = row.time
            if row.time - start > interval * 0.45 {
                number += 1
                start = row.time
            }
            if own[row.receiver].last?.advertisement == number { continue }
            own[row.receiver].append(Heard(time: row.time - cut, rssi: row.rssi, advertisement: number))
        }
        for (receiver, link) in own.enumerated() where link.count > 1 {
            links.append(link)
            sent.append(number + 1)
            self.receivers.append(receiver)
            stays.append(stayCount)
        }
        stayCount += 1
    }

    /// Every `step`-th advertisement alone, each of the `step` ways to choose them.
    func thinned(by step: Int, name: String) -> Workload {
        var series: [Series] = []
        for phase in 0..<step {
            for (index, (link, count)) in zip(links, sent).enumerated() {
                let kept = link.filter { $0.advertisement % step == phase }
                guard kept.count > 1 else { continue }
                series.append(
                    Series(
                        times: kept.map(\.time), rssi: kept.map(\.rssi), duration: Double(count) * interval,
                        sent: count / step, receiver: receivers[index]))
            }
        }
        return Workload(name: name, interval: interval * Double(step), series: series)
    }

    /// The same for receivers that hear a stay together; without stays that one of them did not hear.
    ///
    /// - Parameter members: The receivers of each group.
    func groups(of members: [[Int]], thinnedBy step: Int) -> [Group] {
        var groups: [Group] = []
        for stay in 0..<stayCount {
            let here = links.indices.filter { stays[$0] == stay }
            for members in members {
                let chosen = members.compactMap { member in here.first { receivers[$0] == member } }
                guard chosen.count == members.count else { continue }
                for phase in 0..<step {
                    let series = chosen.map { index in
                        let kept = links[index].filter { $0.advertisement % step == phase }
                        return Series(
                            times: kept.map(\.time), rssi: kept.map(\.rssi),
                            duration: Double(sent[index]) * interval, sent: sent[index] / step,
                            receiver: receivers[index])
                    }
                    groups.append(Group(series: series))
                }
            }
        }
        return groups
    }
}
