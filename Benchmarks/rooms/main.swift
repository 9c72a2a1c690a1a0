import Glibc
import Rooms

var tuning = RoomTuning()
var recordings: [String] = []
var isEngineOnly = false
var isTraining = false
var isNodes = false
var isPicture = false
var areKnown = true
var houseHours: Double?
var homeCount: UInt64?
var printsEach = false
var isOneWeak = false
var isAblation = false
var isOracle = false
var isMeasured = false
var isFloors = false
var isSurvey = false
var surveyTuning = LevelSurveyTuning()
var restHours: Int?
var recordingMinutes: Int?
var recordingDirectory: String?
var numbers: [(name: String, value: Float)] = []
var seed: UInt64?
var every = 1
for argument in CommandLine.arguments.dropFirst() {
    if argument == "--engine" {
        isEngineOnly = true
    } else if argument == "--cost" {
        ReadingCost.printAll()
        FeedCost.printAll()
        exit(0)
    } else if argument == "--nodes" {
        isNodes = true
    } else if argument == "--unknown" {
        areKnown = false
    } else if argument == "--picture" {
        isPicture = true
    } else if argument == "--house-training" {
        isTraining = true
    } else if argument == "--each" {
        printsEach = true
    } else if argument == "--ablation" {
        isAblation = true
    } else if argument == "--oracle" {
        isOracle = true
    } else if argument == "--measured" {
        (isOracle, isMeasured) = (true, true)
    } else if argument == "--floors" {
        isFloors = true
    } else if argument == "--survey" {
        isSurvey = true
    } else if argument == "--weak" {
        isOneWeak = true
    } else if argument.hasPrefix("--rest=") {
        restHours = Int(argument.dropFirst(7))
        guard let restHours, (2...168).contains(restHours) else {
            fail("\(argument): not a number of hours from 2 to 168")
        }
    } else if argument.hasPrefix("--write=") {
        recordingDirectory = String(argument.dropFirst(8))
    } else if argument.hasPrefix("--minutes=") {
        recordingMinutes = Int(argument.dropFirst(10))
        guard let recordingMinutes, (1...60).contains(recordingMinutes) else {
            fail("\(argument): not a number of minutes from 1 to 60")
        }
    } else if argument.hasPrefix("--homes=") {
        homeCount = UInt64(argument.dropFirst(8))
        if homeCount == nil { fail("\(argument): not a number") }
    } else if argument.hasPrefix("--house=") {
        houseHours = Double(argument.dropFirst(8))
    } else if argument.hasPrefix("--every=") {
        guard let count = Int(argument.dropFirst(8)), count > 0 else { fail("\(argument): not a number from 1 on") }
        every = count
    } else if argument.hasPrefix("--seed=") {
        seed = UInt64(argument.dropFirst(7))
        if seed == nil { fail("\(argument): not a number") }
    } else if argument.hasPrefix("-") {
        fail("\(argument) is not known")
    } else if let equals = argument.firstIndex(of: "=") {
        guard let value = Float(argument[argument.index(after: equals)...]) else { fail("\(argument): not a number") }
        numbers.append((String(argument[..<equals]), value))
    } else {
        recordings.append(argument)
    }
}
for (name, value) in numbers {
    if isSurvey { surveyTuning.set(name, value) } else { tuning.set(name, value) }
}
if isAblation {
    var ablation = Ablation(recordings: recordings.map { Home(path: $0, every: every) })
    let first = seed ?? 1
    ablation.run(homes: first..<first + (homeCount ?? 200))
    exit(0)
}
if let homeCount {
    // The homes from 1001 on are for reporting, those from 1 to 200 for tuning.
    let first = seed ?? (isOracle || isSurvey ? 2001 : 1001)
    if let recordingDirectory {
        writeRecordings(of: first..<first + homeCount, minutes: recordingMinutes ?? 20, to: recordingDirectory)
        exit(0)
    }
    if isSurvey {
        var report = GatewaySurveyReport(tuning: surveyTuning, printsEach: printsEach, hasNodes: isNodes)
        report.run(homes: first..<first + homeCount)
        exit(0)
    }
    if isFloors, isOracle {
        FloorsReport.printTold(homes: first..<first + homeCount)
        exit(0)
    }
    if isFloors {
        var report = FloorsReport(tuning: tuning, printsEach: printsEach)
        report.run(homes: first..<first + homeCount)
        exit(0)
    }
    if isOracle {
        var report = OracleReport(
            tuning: tuning, isOneWeak: isOneWeak, isMeasured: isMeasured, hasNodes: isNodes,
            printsEach: printsEach)
        report.run(homes: first..<first + homeCount)
        exit(0)
    }
    var report = HomesReport(
        tuning: tuning, isEngineOnly: isEngineOnly, printsEach: printsEach, isOneWeak: isOneWeak,
        restHours: restHours)
    report.run(homes: first..<first + homeCount)
    exit(0)
}
if houseHours != nil || isTraining, let recording = recordings.first {
    var report = HouseReport(hours: houseHours ?? 0, tuning: tuning, noise: NoiseFit(Home(path: recording)))
    if let seed { report.seed = seed }
    report.printHead()
    if houseHours != nil { if isFloors { report.printFloors() } else { report.printLife() } }
    if isTraining { report.printTraining() }
    exit(0)
}
for recording in recordings {
    let comparison = Comparison(home: Home(path: recording, every: every), tuning: tuning, areKnown: areKnown)
    if isPicture {
        print(comparison.picture(ofSession: 0).svg)
    } else if isNodes {
        comparison.printNodes(seeds: seed.map { [$0] } ?? [1, 2, 3, 4, 5, 6, 7, 8])
    } else if isEngineOnly {
        comparison.printEngine()
    } else {
        comparison.printTable()
    }
}
