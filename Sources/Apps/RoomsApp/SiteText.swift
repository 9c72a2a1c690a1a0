import Base
import Rooms
import SiteProtocol

/// Explanations of the engine's state, in sentences for users.
enum SiteText {
    /// An older level says nothing about the present.
    private static let fresh: Duration = .seconds(3)
    /// Two rooms are called hard to distinguish if at least this share of the training of one fits the other, 0 … 1.
    private static let hardShare: Float = 0.15

    // MARK: Why a tag is where it is

    /// - Parameters:
    ///   - influences: The readings that decide, the largest influence first.
    ///   - leaveTimeout: The silence after which the tag is away.
    static func reasons(
        _ tag: TagExplanation, _ influences: [ReadingInfluence] = [], leaveTimeout: Duration? = nil,
        at now: MonotonicInstant
    ) -> [String] {
        var sentences: [String] = []
        if let training = tag.training, !training.isOver {
            let left = Int(now.duration(to: training.until).inSeconds.rounded(.up))
            sentences.append("It is training \(training.room.name) for another \(left) s.")
        }
        guard tag.isHome else {
            sentences.append("No gateway hears it.")
            return sentences
        }
        sentences += heard(tag, leaveTimeout: leaveTimeout, at: now)
        sentences += Self.influences(influences)
        guard let best = tag.belief.first else {
            sentences.append("No room is probable yet.")
            return sentences
        }
        let rooms = tag.belief.filter { $0.probability >= 0.005 }.prefix(4)
        sentences.append(
            "Probable rooms: \(rooms.map { "\($0.room.name) \(percent($0.probability))" }.joined(separator: ", ")).")
        if best.room.id != tag.room?.id, tag.training?.isOver != false {
            sentences.append(
                "\(best.room.name) is reported when it reaches \(percent(tag.needed)) and two consecutive readings "
                    + "support it.")
        }
        return sentences
    }

    /// The readings for the room, and those against it.
    private static func influences(_ influences: [ReadingInfluence]) -> [String] {
        guard let room = influences.first?.room.name else { return [] }
        func list(_ part: [ReadingInfluence]) -> String {
            part.map { one in
                one.level.map { "\(one.gateway) at \(Int($0.rounded())) dBm" } ?? "that \(one.gateway) does not hear it"
            }.joined(separator: ", ")
        }
        let pro = influences.filter { $0.logOdds > 0 }
        let contra = influences.filter { $0.logOdds < 0 }
        return (pro.isEmpty ? [] : ["What speaks most for \(room): \(list(pro))."])
            + (contra.isEmpty ? [] : ["What speaks most against \(room): \(list(contra))."])
    }

    private static func heard(
        _ tag: TagExplanation, leaveTimeout: Duration?, at now: MonotonicInstant
    ) -> [String] {
        guard let newest = tag.levels.map(\.at).max() else { return ["No gateway has heard it since the start."] }
        let levels = tag.levels.filter { $0.at.duration(to: now) <= fresh }
        var sentences: [String] = []
        if levels.isEmpty {
            let silence = Int(newest.duration(to: now).inSeconds)
            sentences.append("The last gateway heard it \(silence) s ago.")
            if let leaveTimeout {
                let limit = Int(leaveTimeout.inSeconds.rounded(.up))
                sentences.append("It is away at the latest after \(limit) s of silence.")
            }
        } else {
            let shown = levels.prefix(4).map { "\($0.gateway) at \(Int($0.level.rounded())) dBm" }
            sentences.append("Heard by \(shown.joined(separator: ", ")).")
        }
        let silent = tag.levels.filter { !$0.isListening }.map(\.gateway).sorted()
        if !silent.isEmpty {
            let verb = silent.count == 1 ? "does" : "do"
            sentences.append(
                "\(silent.joined(separator: ", ")) \(verb) not listen, so silence there means nothing.")
        }
        return sentences
    }

    // MARK: The result of a training run

    /// - Parameters:
    ///   - confusion: nil if the room has no training.
    ///   - run: The run that has just ended, if any.
    ///   - others: Names of the other rooms, and whether they were trained.
    static func training(
        of room: String, _ confusion: RoomConfusion?, run: TagExplanation.Training?,
        others: [(name: String, isTrained: Bool)]
    ) -> [String] {
        var sentences: [String] = []
        if let run, run.isOver {
            let whole = run.began.duration(to: run.until).inSeconds
            if Double(run.learned) < whole / 2 {
                sentences.append(
                    "The tag was heard in \(Int(run.learned)) of \(Int(whole)) seconds only. Check its battery and the "
                        + "gateways, and train again.")
            }
        }
        guard let confusion else { return sentences + ["Nothing was learned about \(room) yet."] }
        if confusion.alone > 0.5 {
            sentences.append(
                "In \(percent(confusion.alone)) of the time at most one gateway hears the tag in \(room). Several are "
                    + "needed to distinguish rooms: a further gateway would help.")
        }
        let hard = confusion.mistaken.filter { $0.share >= hardShare }.prefix(3)
        for other in hard {
            let isTrained = others.first { $0.name == other.room.name }?.isTrained == true
            sentences.append(
                "\(room) and \(other.room.name) are hard to distinguish: \(percent(other.share)) of what was heard in "
                    + "\(room) fits \(other.room.name). "
                    + (isTrained
                        ? "Train both again and walk through all of each room. If that does not help, move a gateway "
                            + "away from the door between them."
                        : "Train \(other.room.name), too."))
        }
        let trained = others.filter(\.isTrained).map(\.name)
        let untrained = others.filter { !$0.isTrained }.map(\.name)
        if hard.isEmpty, !trained.isEmpty { sentences.append("\(room) is well told apart from \(list(trained)).") }
        if !untrained.isEmpty { sentences.append("Not trained yet: \(list(untrained)).") }
        return sentences.isEmpty ? ["\(room) is trained."] : sentences
    }

    private static func list(_ names: [String]) -> String {
        names.namedFew(most: 4)
    }

    private static func percent(_ share: Float) -> String { "\(Int((share * 100).rounded())) %" }
}
