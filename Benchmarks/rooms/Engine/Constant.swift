import Base
import Rooms

/// A tuned constant of the engine, by its name.
struct Constant: Sendable {
    /// What the engine is compared with to see what the constant is good for.
    enum Trial: Sendable {
        /// With this value the constant does nothing.
        case without(Float)
        /// The constant is a scale, which no value takes away: half of it, and twice as much.
        case scale
    }

    let name: String
    let trial: Trial
    let get: @Sendable (RoomTuning) -> Float
    let set: @Sendable (inout RoomTuning, Float) -> Void

    private init(_ name: String, _ path: any WritableKeyPath<RoomTuning, Float> & Sendable, _ trial: Trial) {
        (self.name, self.trial) = (name, trial)
        (get, set) = ({ $0[keyPath: path] }, { $0[keyPath: path] = $1 })
    }

    private init<Number: BinaryInteger & SendableMetatype>(
        _ name: String, whole path: any WritableKeyPath<RoomTuning, Number> & Sendable, _ trial: Trial
    ) {
        (self.name, self.trial) = (name, trial)
        (get, set) = ({ Float($0[keyPath: path]) }, { $0[keyPath: path] = Number($1) })
    }

    private init(_ name: String, seconds path: any WritableKeyPath<RoomTuning, Duration> & Sendable, _ trial: Trial) {
        (self.name, self.trial) = (name, trial)
        get = { Float($0[keyPath: path].inSeconds) }
        set = { $0[keyPath: path] = .milliseconds(Int64($1 * 1000)) }
    }

    /// The values that are tried instead of the constant's own.
    func values(in tuning: RoomTuning) -> [Float] {
        switch trial {
        case .without(let value): [value]
        case .scale: [get(tuning) / 2, get(tuning) * 2]
        }
    }

    static func named(_ name: String) -> Constant? { all.first { $0.name == name } }

    /// More than any number, time or distance that occurs.
    private static let never: Float = 1e9

    static let all: [Constant] =
        hearing + silence + movement + observation + transition + floors + report + learning + prints + levels
        + surveyed

    private static let hearing = [
        Constant("gatherSeconds", \.hearing.gatherSeconds, .without(0)),
        Constant("rareGatherSeconds", \.hearing.rareGatherSeconds, .without(0.25)),
        Constant("gatewaySilenceSeconds", \.hearing.gatewaySilenceSeconds, .without(1e6)),
        Constant("nodeSilenceSeconds", \.hearing.nodeSilenceSeconds, .without(1e6)),
        Constant("longestPauseSeconds", \.hearing.longestPauseSeconds, .without(1e6)),
    ]

    private static let silence = [
        Constant("freshSeconds", \.silence.freshSeconds, .without(1)),
        Constant("gatewayReportSeconds", \.silence.gatewayReportSeconds, .scale),
        Constant("nodeReportSeconds", \.silence.nodeReportSeconds, .without(1)),
        Constant("heldReports", \.silence.heldReports, .without(1e6)),
        Constant("attentiveNanoseconds", whole: \.silence.attentiveNanoseconds, .without(0)),
        Constant("lateNanoseconds", whole: \.silence.lateNanoseconds, .without(1e18)),
        Constant("missLevel", \.silence.missLevel, .without(-120)),
        Constant("missStep", \.silence.missStep, .without(never)),
        Constant("failedLevel", \.silence.failedLevel, .without(-95)),
        Constant("shortFailureSeconds", \.silence.shortFailureSeconds, .without(0.001)),
    ]

    private static let movement = [
        Constant("movementDeviations", \.movement.movementDeviations, .scale),
        Constant("stirDeviations", \.movement.stirDeviations, .without(1.7)),
        Constant("stirReports", \.movement.stirReports, .without(0)),
        Constant("appearanceHeight", \.movement.appearanceHeight, .without(never)),
        Constant("settleReports", \.movement.settleReports, .without(0)),
        Constant("restHalfReports", \.movement.restHalfReports, .without(never)),
        Constant("labelledRestFactor", \.movement.labelledRestFactor, .without(1)),
        Constant("leastWorth", \.movement.leastWorth, .without(0)),
        Constant("fewestLevels", whole: \.movement.fewestLevels, .without(1)),
        Constant("mostNewLevels", whole: \.movement.mostNewLevels, .without(1)),
        Constant("silentReports", \.movement.silentReports, .without(never)),
        Constant("intervalShare", \.movement.intervalShare, .without(0)),
        Constant("longestInterval", \.movement.longestInterval, .without(never)),
        Constant("latestShare", \.course.latestShare, .without(1)),
        Constant("meanShare", \.course.meanShare, .without(0)),
        Constant("leastVariance", \.course.leastVariance, .without(0.05)),
        Constant("mostVariance", \.course.mostVariance, .without(never)),
    ]

    private static let observation = [
        Constant("levelSlope", \.observation.levelSlope, .scale),
        Constant("noveltyDistance", \.observation.noveltyDistance, .scale),
        Constant("noveltySeconds", \.observation.noveltySeconds, .without(0.001)),
        Constant("trustSeconds", \.observation.trustSeconds, .without(1e-6)),
        Constant("ownTrustSeconds", \.observation.ownTrustSeconds, .without(1e-6)),
        Constant("labelledTrust", \.observation.labelledTrust, .without(0.6)),
        Constant("ownTrust", \.observation.ownTrust, .without(1)),
        Constant("placementWorth", \.observation.placementWorth, .without(0)),
        Constant("placementWindows", \.observation.placementWindows, .without(1)),
        Constant("labelWorth", \.observation.labelWorth, .without(1)),
        Constant("untrainedPenalty", \.observation.untrainedPenalty, .without(0)),
        Constant("missingWorth", \.observation.missingWorth, .without(0)),
    ]

    private static let transition = [
        Constant("staySeconds", \.transition.staySeconds, .scale),
        Constant("stayShare", \.transition.stayShare, .without(0)),
        Constant("restStayShare", \.transition.restStayShare, .without(0)),
        Constant("longestStaySeconds", \.transition.longestStaySeconds, .without(never)),
        Constant("exitPrior", \.transition.exitPrior, .without(never)),
        Constant("mostWindowSeconds", \.transition.mostWindowSeconds, .without(1)),
        Constant("freshStaySeconds", \.transition.freshStaySeconds, .without(never)),
        Constant("packetDoubt", \.transition.packetDoubt, .without(0)),
        Constant("windowCap", \.transition.windowCap, .without(never)),
    ]

    private static let floors = [
        Constant("changeShare", \.floors.changeShare, .without(1)),
        Constant("leastLevel", \.floors.leastLevel, .without(-120)),
        Constant("stairsSeconds", \.floors.stairsSeconds, .without(never)),
        Constant("contradiction", \.floors.contradiction, .without(0)),
        Constant("floorShare", \.floors.floorShare, .without(0)),
        Constant("floorSlope", \.floors.floorSlope, .scale),
        Constant("lockSeconds", \.floors.lockSeconds, .without(never)),
    ]

    private static let report = [
        Constant("reportProbability", \.report.reportProbability, .without(0)),
        Constant("labelledReportProbability", \.report.labelledReportProbability, .without(0.85)),
        Constant("readingsToReport", whole: \.report.readingsToReport, .without(1)),
        Constant("clearLead", \.report.clearLead, .without(never)),
    ]

    private static let learning = [
        Constant("learnProbability", \.learning.learnProbability, .without(0)),
        Constant("learnLag", whole: \.learning.learnLag, .without(1)),
        Constant("ownStaySeconds", \.learning.ownStaySeconds, .without(never)),
        Constant("learnStaySeconds", \.learning.learnStaySeconds, .without(30)),
        Constant("ownExit", \.learning.ownExit, .without(0)),
        Constant("longestWindow", \.learning.longestWindow, .without(1)),
        Constant("mostDoubtful", whole: \.learning.mostDoubtful, .without(1e6)),
        Constant("walk", seconds: \.learning.walk, .without(0)),
        Constant("leastPlacedSeconds", \.learning.leastPlacedSeconds, .without(0)),
    ]

    private static let prints = [
        Constant("kernelWidth", \.prints.kernelWidth, .scale),
        Constant("distanceCap", \.prints.distanceCap, .without(never)),
        Constant("unknownDistance", \.prints.unknownDistance, .without(0)),
        Constant("missCap", \.prints.missCap, .without(never)),
        Constant("missPerPacket", \.prints.missPerPacket, .without(never)),
        Constant("mostFingerprints", whole: \.prints.mostFingerprints, .scale),
        Constant("mergeDistance", \.prints.mergeDistance, .without(0)),
        Constant("otherBodyShare", \.prints.otherBodyShare, .without(0)),
        Constant("otherBodyWidth", \.prints.otherBodyWidth, .scale),
        Constant("bodyDeviation", \.prints.bodyDeviation, .without(0)),
    ]

    private static let surveyed = [
        Constant("surveyedSeconds", \.surveyed.seconds, .without(0)),
        Constant("surveyedLabelledSeconds", \.surveyed.labelledSeconds, .scale),
        Constant("surveyedOwnSeconds", \.surveyed.ownSeconds, .scale),
        Constant("surveyedTrust", \.surveyed.trust, .without(0.6)),
        Constant("surveyedOwnLead", \.surveyed.ownLead, .scale),
        Constant("surveyedBodyLoss", \.surveyed.bodyLoss, .without(0)),
        Constant("surveyedDeviation", \.surveyed.deviation, .scale),
        Constant("surveyedCommonDeviation", \.surveyed.commonDeviation, .scale),
        Constant("surveyedLost", \.surveyed.lost, .without(0)),
        Constant("surveyedHalfHeard", \.surveyed.halfHeard, .without(-120)),
        Constant("surveyedUnheard", \.surveyed.unheard, .without(-93)),
    ]

    private static let levels = [
        Constant("ownPriorSeconds", \.levels.ownPriorSeconds, .without(0.001)),
        Constant("ownPriorLevel", \.levels.ownPriorLevel, .without(-95)),
        Constant("ownPriorDeviation", \.levels.ownPriorDeviation, .scale),
        Constant("leastDeviation", \.levels.leastDeviation, .without(0.1)),
        Constant("ownDistanceCap", \.levels.ownDistanceCap, .without(never)),
        Constant("mostOwnSeconds", \.levels.mostOwnSeconds, .without(never)),
    ]
}

extension RoomTuning {
    /// Sets a number by its name, to see what it does.
    mutating func set(_ name: String, _ value: Float) {
        guard let constant = Constant.named(name) else { fail("there is no number called \(name)") }
        constant.set(&self, value)
    }
}
