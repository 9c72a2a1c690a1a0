import Base

/// What one gateway last heard of a tag.
struct HeardLevel: Sendable, BitwiseCopyable {
    var gateway: GatewayIndex
    /// Packets of the second.
    var packets: Int16
    /// dBm, corrected for the tag's power.
    var level: Float
    var at: MonotonicInstant
    var course: LevelCourse

    init(gateway: GatewayIndex, packets: Int16, level: Float, at: MonotonicInstant) {
        (self.gateway, self.packets, self.level, self.at) = (gateway, packets, level, at)
        course = LevelCourse(level: level)
    }

    /// Takes over the course of the gateway's earlier levels.
    ///
    /// - Parameter longestPause: After more seconds the course begins anew.
    mutating func continueCourse(of earlier: HeardLevel, longestPause: Float, _ tuning: LevelCourseTuning) {
        guard at.seconds(since: earlier.at) < longestPause else { return }
        course = earlier.course
        course.add(level, tuning)
    }

    /// Levels of the same two seconds count as heard at once.
    var pairOfSeconds: Int64 { at.nanoseconds / 2_000_000_000 }

    // MARK: Once the gateway is silent

    /// Number of report intervals since the gateway heard the tag.
    @inline(__always)
    private func reports(until now: MonotonicInstant, isOfNode: Bool, _ tuning: SilenceTuning) -> Float {
        now.seconds(since: at) / (isOfNode ? tuning.nodeReportSeconds : tuning.gatewayReportSeconds)
    }

    /// Whether the gateway should have reported the tag again if it still heard it.
    @inline(__always)
    func isOverdue(at now: MonotonicInstant, isOfNode: Bool, _ tuning: SilenceTuning) -> Bool {
        reports(until: now, isOfNode: isOfNode, tuning) > tuning.freshSeconds
    }

    /// The level of a gateway that has been silent since: unchanged until a report is overdue, then decreasing.
    func aged(at now: MonotonicInstant, isOfNode: Bool, _ tuning: SilenceTuning) -> Float {
        let overdue = max(0, reports(until: now, isOfNode: isOfNode, tuning) - tuning.freshSeconds)
        let share = max(0, 1 - overdue / (tuning.heldReports - tuning.freshSeconds))
        return max(tuning.missLevel, tuning.missLevel + (level - tuning.missLevel) * share)
    }
}
