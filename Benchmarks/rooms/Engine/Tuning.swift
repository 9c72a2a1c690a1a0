import Rooms

extension RoomTuning {
    /// Sets a number by its name, to see what it does.
    mutating func set(_ name: String, _ value: Float) {
        switch name {
        case "gatherSeconds": hearing.gatherSeconds = value
        case "rareGatherSeconds": hearing.rareGatherSeconds = value
        case "failedLevel": silence.failedLevel = value
        case "freshSeconds": silence.freshSeconds = value
        case "levelSlope": observation.levelSlope = value
        case "missLevel": silence.missLevel = value
        case "kernelWidth": prints.kernelWidth = value
        case "distanceCap": prints.distanceCap = value
        case "missCap": prints.missCap = value
        case "noveltyDistance": observation.noveltyDistance = value
        case "unknownDistance": prints.unknownDistance = value
        case "noveltySeconds": observation.noveltySeconds = value
        case "trustSeconds": observation.trustSeconds = value
        case "labelledTrust": observation.labelledTrust = value
        case "ownTrust": observation.ownTrust = value
        case "labelWorth": observation.labelWorth = value
        case "mostFingerprints": prints.mostFingerprints = Int(value)
        case "mergeDistance": prints.mergeDistance = value
        case "latestShare": course.latestShare = value
        case "meanShare": course.meanShare = value
        case "stirReports": movement.stirReports = value
        case "movementDeviations": movement.movementDeviations = value
        case "settleReports": movement.settleReports = value
        case "restHalfReports": movement.restHalfReports = value
        case "stirDeviations": movement.stirDeviations = value
        case "labelledRestFactor": movement.labelledRestFactor = value
        case "leastWorth": movement.leastWorth = value
        case "restStayShare": transition.restStayShare = value
        case "appearanceHeight": movement.appearanceHeight = value
        case "staySeconds": transition.staySeconds = value
        case "reportProbability": report.reportProbability = value
        case "labelledReportProbability": report.labelledReportProbability = value
        case "readingsToReport": report.readingsToReport = Int(value)
        case "clearLead": report.clearLead = value
        case "heldReports": silence.heldReports = value
        case "nodeReportSeconds": silence.nodeReportSeconds = value
        case "windowCap": transition.windowCap = value
        case "learnProbability": learning.learnProbability = value
        case "learnLag": learning.learnLag = Int(value)
        case "learnStaySeconds": learning.learnStaySeconds = value
        case "untrainedPenalty": observation.untrainedPenalty = value
        case "mostWindowSeconds": transition.mostWindowSeconds = value
        case "freshStaySeconds": transition.freshStaySeconds = value
        case "missPerPacket": prints.missPerPacket = value
        case "missingWorth": observation.missingWorth = value
        case "missStep": silence.missStep = value
        case "stayShare": transition.stayShare = value
        case "longestStaySeconds": transition.longestStaySeconds = value
        case "exitPrior": transition.exitPrior = value
        case "ownExit": learning.ownExit = value
        case "ownTrustSeconds": observation.ownTrustSeconds = value
        case "ownPriorSeconds": levels.ownPriorSeconds = value
        case "ownPriorLevel": levels.ownPriorLevel = value
        case "ownPriorDeviation": levels.ownPriorDeviation = value
        case "leastDeviation": levels.leastDeviation = value
        case "ownDistanceCap": levels.ownDistanceCap = value
        case "mostOwnSeconds": levels.mostOwnSeconds = value
        case "otherBodyShare": prints.otherBodyShare = value
        case "otherBodyWidth": prints.otherBodyWidth = value
        case "bodyDeviation": prints.bodyDeviation = value
        case "packetDoubt": transition.packetDoubt = value
        case "ownStaySeconds": learning.ownStaySeconds = value
        case "placementWorth": observation.placementWorth = value
        case "placementWindows": observation.placementWindows = value
        default: fail("there is no number called \(name)")
        }
    }
}
