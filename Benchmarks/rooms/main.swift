import Glibc
import Rooms

var tuning = RoomTuning()
var homes: [Home] = []
for argument in CommandLine.arguments.dropFirst() {
    if argument.hasPrefix("-") { continue }
    if let equals = argument.firstIndex(of: "=") {
        tuning.set(String(argument[..<equals]), Float(argument[argument.index(after: equals)...]) ?? .nan)
    } else {
        homes.append(Home(path: argument))
    }
}
for home in homes {
    let phases = home.gateways.indices.map { Double($0 * 37 % 100) / 100 }
    for (label, use, phase) in [
        ("untrained   ", 0, nil as [Double]?), ("self-trained", 1, nil), ("one walk    ", 2, nil),
        ("walk, phases", 2, phases), ("untr, phases", 0, phases),
    ] {
        if CommandLine.arguments.contains("-q"), phase != nil { continue }
        var score = Score()
        for place in home.sessions.indices {
            var run = EngineRun(home, tuning, phases: phase)
            if use > 0 {
                for other in home.sessions.indices where other != place {
                    run.play(home.sessions[other], as: use == 2 ? .walk : .unlabelled)
                }
            }
            score.add(home.sessions[place], run.play(home.sessions[place], as: .test))
        }
        print(label, score.text, score.sessions.map { fixed($0, 2) }.joined(separator: " "))
    }
}
