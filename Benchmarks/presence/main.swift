import Glibc

/// Plays recordings through the real presence engine in virtual time, beside the rules of other programs, and
/// prints how often each is wrong and how late. See `Docs/presence.md`.

var arguments = CommandLine.arguments.dropFirst()
var picture: String?
if let option = arguments.firstIndex(of: "--svg"), option + 1 < arguments.endIndex {
    picture = arguments[option + 1]
    arguments.removeSubrange(option...option + 1)
}
let isDuty = arguments.contains("--duty")
arguments.removeAll { $0 == "--duty" }
if isDuty { reportQuickDuty() }
if arguments.isEmpty && !isDuty || arguments.contains("--help") {
    print(
        "usage: presence-benchmark [--svg FILE] [--cost] [--synthetic] [--quick] [--duty] [STAYS.csv]... [DOOR.csv with DOOR.truth.csv]..."
    )
    exit(arguments.isEmpty ? 64 : 0)
}

var panels: [Panel] = []
for argument in arguments {
    switch argument {
    case "--cost": measureCost()
    case "--quick": reportQuick()
    case "--synthetic": for workload in syntheticWorkloads() { panels.append(report(workload)) }
    default:
        let trace = Trace(path: argument)
        if trace.truths.contains("outside") {
            reportDoor(trace, truth: DoorTruth(path: String(argument.dropLast(4)) + ".truth.csv"))
        } else {
            let stays = Stays(trace, interval: 0.455)
            if isDuty {
                reportDuty(stays, path: argument)
                continue
            }
            print("\(argument): \(trace.rows.count) sightings, \(stays.outages) outages of all receivers cut out")
            for step in [1, 2, 4, 10, 20] {
                let name = step == 1 ? "0.455 s" : "every \(step)th, \(fixed(0.455 * Double(step), 2)) s"
                panels.append(report(stays.thinned(by: step, name: "stays, \(name)")))
            }
            reportSeveral(stays, receivers: trace.receivers)
        }
    }
}
if let picture { writeText(svg(panels), to: picture) }
