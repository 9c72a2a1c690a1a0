import Glibc

extension RandomHome {
    /// What is judged in this home, in the form of the recordings, so that other programs can be played the same packets.
    ///
    /// - Parameter minutes: How much of each trial is written, from its begin.
    func recording(minutes: Int) -> String {
        var lines = ["# random home \(number): session, seconds, room, dBm at each receiver (empty: nothing heard)"]
        lines.append(
            "gateways," + home.gateways.map { "\($0.name)=\(home.rooms[$0.room])" }.joined(separator: ","))
        for (index, trial) in trials.enumerated() {
            for moment in trial.session.moments where moment.time < Double(minutes * 60) {
                let levels = moment.levels.map { $0.map { fixed($0, 0) } ?? "" }
                lines.append(
                    "\(index + 1)-\(trial.session.name),\(fixed(moment.time, 3)),\(home.rooms[moment.room]),"
                        + levels.joined(separator: ","))
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

/// Writes random homes as recordings: `home-1001.csv` and so on.
func writeRecordings(of homes: Range<UInt64>, minutes: Int, to directory: String) {
    for number in homes {
        writeText(RandomHome(number: number).recording(minutes: minutes), to: "\(directory)/home-\(number).csv")
    }
}
