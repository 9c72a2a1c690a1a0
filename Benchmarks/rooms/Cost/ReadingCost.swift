import Base
import CHeap
import Glibc
import Rooms
import SiteProtocol

/// Processor time of this process, seconds: what else runs on the machine does not count.
func processorTime() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// What a reading costs on its way from JSON through the engine, and what a tag takes of memory.
struct ReadingCost {
    /// Nanoseconds per reading, of the best second.
    private(set) var decode = Double.infinity
    private(set) var engine = Double.infinity
    /// Of the engine, in the last second.
    private(set) var allocationsPerReading = 0.0
    /// Of the engine with its presence and what was learned.
    private(set) var bytesPerTag = 0.0
    /// Bytes that the second half of the time added.
    private(set) var growth = 0

    init(gateways: Int, tags: Int, hearers: Int, seconds: Int, knowing extras: [RoomEngine.Input] = []) {
        var crowd = FeedCrowd(gateways: gateways, tags: tags, hearers: hearers)
        let before = heap_bytes()
        var engine = crowd.engine()
        var middle = 0
        for second in 1...seconds {
            // As the service says it.
            if second % 5 == 1 { for extra in extras { _ = engine.handle(extra, at: Self.start(of: second)) } }
            pass(crowd.messages(ofSecond: second), second, to: &engine)
            if second == seconds / 2 { middle = heap_bytes() }
        }
        growth = heap_bytes() - middle
        bytesPerTag = Double(heap_bytes() - before) / Double(tags)
        if engine.counters.windows == 0 { fail("nothing was decided") }
    }

    private static func start(of second: Int) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: Int64(second) * 1_000_000_000)
    }

    private mutating func pass(
        _ messages: [(gateway: String, payload: [UInt8])], _ second: Int, to engine: inout RoomEngine
    ) {
        let start = processorTime()
        let decoded = messages.map { message in
            guard let heard = try? FeedDecoder.heard(message.payload) else { fail("a message was not taken") }
            return heard
        }
        let between = processorTime()
        let allocations = heap_allocations()
        var time = Int64(second) * 1_000_000_000
        for (message, heard) in zip(messages, decoded) {
            // Messages of a second come spread over a tenth of it.
            time += 100_000_000 / Int64(messages.count)
            _ = engine.handle(.heard(gateway: message.gateway, heard), at: MonotonicInstant(nanoseconds: time))
        }
        _ = engine.handle(.tick, at: MonotonicInstant(nanoseconds: Int64(second) * 1_000_000_000 + 700_000_000))
        let end = processorTime()
        let readings = Double(decoded.reduce(0) { $0 + $1.readings.count })
        decode = min(decode, (between - start) / readings * 1e9)
        self.engine = min(self.engine, (end - between) / readings * 1e9)
        allocationsPerReading = Double(heap_allocations() - allocations) / readings
    }

    /// Prints the figures of Benchmarks/README.md: without, and with what a survey and the floors say.
    static func printAll() {
        print(
            "gateways    tags  JSON ns  engine ns  both  bytes per tag  growth, bytes  allocations of the engine per reading"
        )
        print("nothing is known of the house")
        for (gateways, tags, hearers, seconds) in [(5, 10, 5, 1000), (100, 1000, 8, 40), (1000, 100_000, 8, 10)] {
            printRow(gateways, tags, ReadingCost(gateways: gateways, tags: tags, hearers: hearers, seconds: seconds))
        }
        for (name, count) in [("what gateways hear of each other is known", 1), ("and the floors", 2)] {
            print(name)
            for (gateways, tags, hearers, seconds) in [(5, 10, 5, 1000), (100, 1000, 8, 40)] {
                let extras = [
                    FeedCrowd.levels(gateways: gateways, hearers: hearers), FeedCrowd.floors(gateways: gateways),
                ]
                let cost = ReadingCost(
                    gateways: gateways, tags: tags, hearers: hearers, seconds: seconds,
                    knowing: Array(extras.prefix(count)))
                printRow(gateways, tags, cost)
            }
        }
    }

    private static func printRow(_ gateways: Int, _ tags: Int, _ cost: ReadingCost) {
        let texts = [
            String(gateways), String(tags), fixed(cost.decode, 0), fixed(cost.engine, 0),
            fixed(cost.decode + cost.engine, 0), fixed(cost.bytesPerTag, 0), String(cost.growth),
            fixed(cost.allocationsPerReading, 3),
        ]
        print(
            zip(texts, [8, 8, 9, 11, 6, 15, 15, 39]).map {
                String(repeating: " ", count: max(0, $1 - $0.count)) + $0
            }.joined())
        fflush(nil)
    }
}
