import Base

/// What it means that a receiver does not report a tag.
///
/// A gateway that speaks and does not report the tag does not hear it. A gateway that does not speak says nothing: messages are late, or
/// the gateway failed. Then its last level keeps the tag in its room until the tag moves. From then on that level fades, within
/// `shortFailureSeconds`, to that in the middle of a room (`failedLevel`): others have to hear the tag better.
extension RoomEngine {
    /// A gateway sends a message each second for this long after its last reading (`ReadingFeed`).
    private static let attentiveNanoseconds: Int64 = 30_000_000_000
    /// Such a message is late after this long.
    private static let lateNanoseconds: Int64 = 2_600_000_000

    // MARK: Of each receiver

    /// Whether the gateway sent a message later than those of the second in which it heard the tag, and is not late with the next. What
    /// came before a message that is late says nothing of the time after it.
    @inline(__always)
    func speaks(since heard: HeardLevel) -> Bool {
        guard let message = gateways[heard.gateway].lastMessage,
            message.nanoseconds > heard.at.nanoseconds + 200_000_000
        else { return false }
        guard scratch.vector.now.nanoseconds - message.nanoseconds > Self.lateNanoseconds else { return true }
        guard gateways[heard.gateway].sendsAlways, let reading = gateways[heard.gateway].lastReading else {
            return true
        }
        return message.nanoseconds - reading.nanoseconds >= Self.attentiveNanoseconds
    }

    /// Number of report intervals since a receiver heard the tag.
    @inline(__always)
    private func reports(since heard: HeardLevel) -> Float {
        let interval =
            gateways[heard.gateway].sendsAlways ? tuning.gatewayReportSeconds : tuning.nodeReportSeconds
        return scratch.vector.now.seconds(since: heard.at) / interval
    }

    /// Whether the receiver should have reported the tag again if it still heard it.
    @inline(__always)
    func isOverdue(_ heard: HeardLevel) -> Bool { reports(since: heard) > tuning.freshSeconds }

    /// The level of a receiver that has been silent since: unchanged until a report is overdue, then decreasing.
    func agedLevel(_ heard: HeardLevel) -> Float {
        let overdue = max(0, reports(since: heard) - tuning.freshSeconds)
        let share = max(0, 1 - overdue / (tuning.heldReports - tuning.freshSeconds))
        return max(tuning.missLevel, tuning.missLevel + (heard.level - tuning.missLevel) * share)
    }

    // MARK: Of a room's own gateways

    /// The level of a gateway for its own room. A failed gateway keeps the tag where it is.
    func heldLevel(of gateway: GatewayIndex, tag: TagIndex) -> Float {
        let level = scratch.vector.levels[gateway].dBm
        if let level, level > tuning.missLevel { return level }
        guard let heard = states[tag].levels.first(where: { $0.gateway == gateway }) else { return tuning.missLevel }
        return level == nil ? keptLevel(heard, tag) : missedLevel(heard, tag)
    }

    /// The level of a gateway that speaks and did not hear the tag. A single packet may be lost, but rarely several in a row.
    @inline(__always)
    private func missedLevel(_ heard: HeardLevel, _ tag: TagIndex) -> Float {
        let step = tuning.missStep * Float(scratch.vector.packets) * missedWindows(since: heard.at, tag)
        return max(tuning.missLevel, heard.level - step)
    }

    /// The level of a receiver of which nothing is known since.
    @inline(__always)
    private func keptLevel(_ heard: HeardLevel, _ tag: TagIndex) -> Float {
        guard isConfirmed(heard, tag) else { return agedLevel(heard) }
        let hasMoved = hasMoved(tag, since: heard)
        guard hasFailed(heard.gateway) else { return hasMoved ? agedLevel(heard) : heard.level }
        let excess = max(0, heard.level - tuning.failedLevel)
        guard hasMoved else { return tuning.failedLevel + excess }
        // Most failures are short: a restart, or an access point. A tag that moves within its room stays there meanwhile.
        let share = max(0, 1 - scratch.vector.now.seconds(since: heard.at) / tuning.shortFailureSeconds)
        return tuning.failedLevel + excess * share
    }

    /// Whether a gateway has failed that had heard the tag in its room, where it still lies. The other gateways alone hardly distinguish
    /// that room from its neighbours.
    @inline(__always)
    func isGatewayMissing(to tag: TagIndex) -> Bool {
        states[tag].levels.contains { heard in
            scratch.vector.levels[heard.gateway].dBm == nil && isConfirmed(heard, tag) && hasFailed(heard.gateway)
                && !hasMoved(tag, since: heard)
        }
    }

    /// Whether a gateway of the tag's room heard the tag after the room was reported. Otherwise it may have caused a wrong report. A
    /// node may send nothing for long, so its silence does not show that it failed.
    @inline(__always)
    private func isConfirmed(_ heard: HeardLevel, _ tag: TagIndex) -> Bool {
        guard let room = states[tag].room, gateways[heard.gateway].room == room, gateways[heard.gateway].sendsAlways,
            let since = states[tag].since
        else { return false }
        return heard.at >= since
    }

    /// Whether the tag has moved since the gateway heard it. Where it was then says little after that.
    @inline(__always)
    private func hasMoved(_ tag: TagIndex, since heard: HeardLevel) -> Bool {
        states[tag].moved.map { $0.seconds(since: heard.at) > tuning.freshSeconds } ?? false
    }

    /// Whether nothing is expected of the gateway any more: it does not listen, or is silent for longer than a message may be late.
    private func hasFailed(_ gateway: GatewayIndex) -> Bool {
        guard gateways[gateway].isListening, let message = gateways[gateway].lastMessage else { return true }
        return scratch.vector.now.nanoseconds - message.nanoseconds > GatewayClock.oldest
    }

    /// Approximate number of windows missed by a gateway that last heard the tag at `instant`.
    @inline(__always)
    private func missedWindows(since instant: MonotonicInstant, _ tag: TagIndex) -> Float {
        guard let judged = states[tag].judged else { return 1 }
        let window = max(1, scratch.vector.elapsed)
        return max(1, judged.seconds(since: instant) / window + 1)
    }
}
