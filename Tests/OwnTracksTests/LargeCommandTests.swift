import Configuration
import Glibc
import JSON
import OwnTracks
import Regions
import TestSupport
import Testing

/// What a message may cost. No time is asserted here (machines differ); the figures are in Docs.
@Suite struct LargeCommands {
    private func setWaypoints(_ elements: String) -> [UInt8] {
        Array(
            #"{"_type":"cmd","action":"setWaypoints","waypoints":{"_type":"waypoints","waypoints":[\#(elements)]}}"#
                .utf8)
    }

    private func manyRegions(_ count: Int) -> String {
        (0..<count).map {
            #"{"_type":"waypoint","tst":\#(1_700_000_000 + $0),"rid":"rid\#($0)","desc":"Region \#($0):\#(sampleUUID):\#($0)","#
                + #""lat":52.123456,"lon":6.5,"rad":0}"#
        }.joined(separator: ",")
    }

    @Test("10,000 regions come in one command and are merged")
    func tenThousand() throws {
        let few = try mergeTwice(1000)
        let many = try mergeTwice(10_000)
        #expect(many.set.regions.count == 10_000)
        #expect(many.again.isEmpty)
        print("10,000 regions: merged and merged again in \(many.used), 1,000 in \(few.used)")
        // Ten times as many are not a hundred times the work.
        #expect(many.used < few.used * 25)
    }

    private func mergeTwice(_ count: Int) throws -> (set: RegionSet, again: RegionDifference, used: Duration) {
        let payload = setWaypoints(manyRegions(count))
        var set = RegionSet()
        var again = RegionDifference()
        let start = Self.processorTime
        for _ in 1...2 {
            guard case .setWaypoints(let reading) = try Command(parsing: payload) else { continue }
            again = set.apply(reading.changes)
        }
        return (set, again, Self.processorTime - start)
    }

    /// Of this thread, as what else the machine does is of no interest.
    private static var processorTime: Duration {
        var now = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)
        return .seconds(now.tv_sec) + .nanoseconds(now.tv_nsec)
    }

    @Test("They are exported and come back the same")
    func export() throws {
        guard case .setWaypoints(let reading) = try Command(parsing: setWaypoints(manyRegions(10_000))) else { return }
        let set = RegionSet.reading(reading)
        let text = waypointsMessage(set.regions).text
        #expect(try RegionSet.reading(WaypointsReading(JSONValue(parsing: text))) == set)
    }

    enum TooMuch: String, CaseIterable {
        case values = "too many values"
        case nesting = "nested too deep"
        case bytes = "bytes are too many"

        var elements: String {
            switch self {
            case .values: String(repeating: "{},", count: 199_999) + "{}"
            case .nesting: String(repeating: "[", count: 65) + String(repeating: "]", count: 65)
            case .bytes: String(repeating: " ", count: 8 << 20)
            }
        }
    }

    @Test("What is too large is refused with its reason", arguments: TooMuch.allCases)
    func refused(much: TooMuch) {
        let payload = setWaypoints(much.elements)
        let clock = ContinuousClock()
        var error: CommandError?
        let time = clock.measure {
            do throws(CommandError) { _ = try Command(parsing: payload) } catch let refusal { error = refusal }
        }
        print("\(much.rawValue): \(payload.count) bytes refused in \(time)")
        #expect(error?.description.contains(much.rawValue) == true, "\(error?.description ?? "taken")")
    }

    @Test("A name of 100 kB is refused, and its neighbour is taken")
    func longName() throws {
        let name = String(repeating: "n", count: 100_000)
        let payload = setWaypoints(
            #"{"_type":"waypoint","tst":1,"desc":"\#(name)"},{"_type":"waypoint","tst":1,"desc":"K"}"#)
        guard case .setWaypoints(let reading) = try Command(parsing: payload) else { return }
        #expect(reading.changes.count == 1)
        #expect(reading.problems.first?.reason.contains("100000 bytes") == true)
        #expect((reading.problems.first?.description.utf8.count ?? 0) < 300)
    }

    @Test("Bytes of any kind are refused without harm")
    func anyBytes() {
        var generator = SplitMix64(seed: 1)
        let alphabet = Array(#"{}[]",:0123456789.eE+-truefalsn\u _/*'"#.utf8) + [0, 0x80, 0xc3, 0xff]
        for _ in 0..<20_000 {
            let length = Int(generator.next() % 40)
            let bytes = (0..<length).map { _ in alphabet[Int(generator.next() % UInt64(alphabet.count))] }
            _ = try? Command(parsing: bytes)
            _ = try? Configuration(parsing: bytes, hostName: "pi")
        }
    }
}
