import CFloor
import CHeap
import Glibc
import Presence

/// Measures what is done for every report.
///
///     HotPath figures FOLDER...        a table of times; each folder is of make-capture
///     HotPath once STAGE FOLDER N [G]  one stage, N times, for valgrind; with G gateways, where the stage has any
///     HotPath allocations STAGE FOLDER allocations of one stage once the beacons are known, and for how many reports
@main
struct HotPath {
    /// Of each figure the best counts: everything else is the machine's own business.
    static let passes = 15

    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.first == "figures", arguments.count > 1 {
            let corpora = try arguments.dropFirst().map { try Corpus(folder: $0) }
            for corpus in corpora { try measure(corpus) }
        } else if arguments.first == "once", (4...5).contains(arguments.count),
            let stage = Stage(rawValue: arguments[2]), let count = Int(arguments[4]),
            let gateways = Int(arguments.dropFirst(4).first ?? "10"), gateways > 0
        {
            let pass = stage.repeated(over: try Corpus(folder: arguments[3]), gateways: gateways)
            var reports: UInt64 = 0
            for _ in 0..<count { reports = pass() }
            print(reports)
        } else if arguments.first == "allocations", arguments.count == 3, let stage = Stage(rawValue: arguments[2]) {
            let pass = stage.repeated(over: try Corpus(folder: arguments[3]))
            for _ in 0..<4 { _ = pass() }
            let before = heap_allocations()
            var reports: UInt64 = 0
            for _ in 0..<20 { reports += pass() }
            let allocations = heap_allocations() - before
            print("\(allocations) \(reports)")
        } else {
            let stages = Stage.allCases.map(\.rawValue).joined(separator: "|")
            print(
                "usage: HotPath figures FOLDER... | once STAGE FOLDER N [G] | allocations STAGE FOLDER; STAGE: \(stages)"
            )
            exit(64)
        }
    }

    /// Prints one line for each figure: name, nanoseconds for each report, and what else is to be known.
    static func measure(_ corpus: Corpus) throws {
        var courses = [10, 1000, 100_000].map { ("\($0) regions", Course(corpus, regions: regions($0))) }
        // As shipped, the engine remembers fewer beacons than the largest corpus has.
        courses.append(("100000 regions, no limit", Course(corpus, regions: regions(100_000), limit: .max)))
        var identities = [0, 64].map { ("\($0) keys", IdentityCourse(corpus, keys: $0)) }
        // Beacons come in, rhythms are learned.
        for index in courses.indices {
            for _ in 0..<max(2, 20 / Int(corpus.span / 1_000_000_000)) { _ = courses[index].1.decide() }
        }
        var best: [String: Double] = [:]
        for _ in 0..<passes {
            let floor = take(&best, "floor", &courses[0].1) { $0.readFloor() }
            let parser = take(&best, "parser", &courses[0].1) { $0.parse() }
            guard floor.checksum == parser.checksum, floor.reports == parser.reports else {
                print("the parser and the C floor disagree: \(parser) \(floor)")
                exit(70)
            }
            for index in courses.indices { _ = take(&best, courses[index].0, &courses[index].1) { $0.decide() } }
            for index in identities.indices { _ = take(&best, identities[index].0, &identities[index].1) { $0.run() } }
        }
        for (name, value) in best.sorted(by: { $0.key < $1.key }) {
            let course = courses.first { $0.0 == name }?.1
            let tracked = course.map { "\($0.engine.trackedBeacons) beacons remembered, \($0.changes) changes" } ?? ""
            print("\(corpus.name) beacons\t\(name)\t\(value)\tns\t\(tracked)")
        }
    }

    static func take<Subject>(
        _ best: inout [String: Double], _ name: String, _ course: inout Subject, _ pass: (inout Subject) -> floor_sum
    ) -> floor_sum {
        let start = processorTime()
        let sum = pass(&course)
        let each = Double(processorTime() - start) / Double(sum.reports)
        best[name] = min(best[name] ?? .infinity, each)
        return sum
    }
}
