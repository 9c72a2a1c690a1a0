import Rooms

extension RoomTuning {
    /// Sets a number by its name, to see what it does.
    mutating func set(_ name: String, _ value: Float) {
        switch name {
        case "gatherSeconds": gatherSeconds = value
        case "rareGatherSeconds": rareGatherSeconds = value
        case "failedLevel": failedLevel = value
        case "freshSeconds": freshSeconds = value
        case "levelSlope": levelSlope = value
        case "missLevel": missLevel = value
        case "kernelWidth": kernelWidth = value
        case "distanceCap": distanceCap = value
        case "missCap": missCap = value
        case "noveltyDistance": noveltyDistance = value
        case "unknownDistance": unknownDistance = value
        case "noveltySeconds": noveltySeconds = value
        case "trustSeconds": trustSeconds = value
        case "labelledTrust": labelledTrust = value
        case "ownTrust": ownTrust = value
        case "labelWorth": labelWorth = value
        case "mostFingerprints": mostFingerprints = Int(value)
        case "mergeDistance": mergeDistance = value
        case "latestShare": latestShare = value
        case "meanShare": meanShare = value
        case "stirReports": stirReports = value
        case "movementDeviations": movementDeviations = value
        case "settleReports": settleReports = value
        case "restHalfReports": restHalfReports = value
        case "stirDeviations": stirDeviations = value
        case "labelledRestFactor": labelledRestFactor = value
        case "leastWorth": leastWorth = value
        case "restStayShare": restStayShare = value
        case "appearanceHeight": appearanceHeight = value
        case "staySeconds": staySeconds = value
        case "reportProbability": reportProbability = value
        case "labelledReportProbability": labelledReportProbability = value
        case "readingsToReport": readingsToReport = Int(value)
        case "clearLead": clearLead = value
        case "heldReports": heldReports = value
        case "nodeReportSeconds": nodeReportSeconds = value
        case "windowCap": windowCap = value
        case "learnProbability": learnProbability = value
        case "learnLag": learnLag = Int(value)
        case "learnStaySeconds": learnStaySeconds = value
        case "untrainedPenalty": untrainedPenalty = value
        case "mostWindowSeconds": mostWindowSeconds = value
        case "freshStaySeconds": freshStaySeconds = value
        case "missPerPacket": missPerPacket = value
        case "missingWorth": missingWorth = value
        case "missStep": missStep = value
        case "stayShare": stayShare = value
        case "longestStaySeconds": longestStaySeconds = value
        case "exitPrior": exitPrior = value
        case "ownExit": ownExit = value
        case "ownTrustSeconds": ownTrustSeconds = value
        case "ownPriorSeconds": ownPriorSeconds = value
        case "ownPriorLevel": ownPriorLevel = value
        case "ownPriorDeviation": ownPriorDeviation = value
        case "leastDeviation": leastDeviation = value
        case "ownDistanceCap": ownDistanceCap = value
        case "mostOwnSeconds": mostOwnSeconds = value
        case "otherBodyShare": otherBodyShare = value
        case "otherBodyWidth": otherBodyWidth = value
        case "bodyDeviation": bodyDeviation = value
        case "packetDoubt": packetDoubt = value
        case "ownStaySeconds": ownStaySeconds = value
        case "placementWorth": placementWorth = value
        case "placementWindows": placementWindows = value
        default: fail("there is no number called \(name)")
        }
    }
}
