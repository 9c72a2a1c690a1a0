import Glibc
import Rooms

var tuning = RoomTuning()
var recordings: [String] = []
var isEngineOnly = false
for argument in CommandLine.arguments.dropFirst() {
    if argument == "--engine" {
        isEngineOnly = true
    } else if argument == "--cost" {
        ReadingCost.printAll()
        FeedCost.printAll()
        exit(0)
    } else if argument.hasPrefix("-") {
        fail("\(argument) is not known")
    } else if let equals = argument.firstIndex(of: "=") {
        tuning.set(String(argument[..<equals]), Float(argument[argument.index(after: equals)...]) ?? .nan)
    } else {
        recordings.append(argument)
    }
}
for recording in recordings {
    let comparison = Comparison(home: Home(path: recording), tuning: tuning)
    if isEngineOnly { comparison.printEngine() } else { comparison.printTable() }
}
