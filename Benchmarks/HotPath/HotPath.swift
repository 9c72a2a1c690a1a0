import CFloor
import Glibc
import Presence

/// Measures what is done for every report.
///
///     HotPath figures FOLDER...        a table of times; each folder is of make-capture
///     HotPath once STAGE FOLDER N      one stage, N times, for valgrind
@main
struct HotPath {
    /// Of each figure the best counts: everything else is the machine's own business.
    static let passes = 15

    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.first == "figures", arguments.count > 1 {
            let corpora = try arguments.dropFirst().map { try Corpus(folder: $0) }
            for corpus in corpora { try measure(corpus) }
        } else if arguments.first == "once", arguments.count == 4, let stage = Stage(rawValue: arguments[2]),
            let count = Int(arguments[4])
        {
            var course = Course(try Corpus(folder: arguments[3]), regions: regions(1000))
            var reports: UInt64 = 0
            for _ in 0..<count { reports = course.run(stage).reports }
            print(reports)
        } else {
            print("usage: HotPath figures FOLDER... | HotPath once floor|parser|path FOLDER N")
            exit(64)
        }
    }

    /// Prints one line for each figure: name, nanoseconds for each report, and what else is to be known.
    static func measure(_ corpus: Corpus) throws {
        var courses = [10, 1000, 100_000].map { ("\($0) regions", Course(corpus, regions: regions($0))) }
        // As shipped, the engine remembers fewer beacons than the largest corpus has.
        courses.append(("100000 regions, no limit", Course(corpus, regions: regions(100_000), limit: .max)))
        // Beacons come in, rhythms are learned.
        for index in courses.indices {
            for _ in 0..<max(2, 20 / Int(corpus.span / 1_000_000_000)) { _ = courses[index].1.run(.path) }
        }
        var best: [String: Double] = [:]
        for _ in 0..<passes {
            let floor = take(&best, "floor", .floor, &courses[0].1)
            let parser = take(&best, "parser", .parser, &courses[0].1)
            guard floor.checksum == parser.checksum, floor.reports == parser.reports else {
                print("the parser and the C floor disagree: \(parser) \(floor)")
                exit(70)
            }
            for index in courses.indices { _ = take(&best, courses[index].0, .path, &courses[index].1) }
        }
        for (name, value) in best.sorted(by: { $0.key < $1.key }) {
            let course = courses.first { $0.0 == name }?.1
            let tracked = course.map { "\($0.engine.trackedBeacons) beacons remembered, \($0.changes) changes" } ?? ""
            print("\(corpus.name) beacons\t\(name)\t\(value)\tns\t\(tracked)")
        }
    }

    static func take(
        _ best: inout [String: Double], _ name: String, _ stage: Stage, _ course: inout Course
    ) -> floor_sum {
        let start = processorTime()
        let sum = course.run(stage)
        let each = Double(processorTime() - start) / Double(sum.reports)
        best[name] = min(best[name] ?? .infinity, each)
        return sum
    }
}
