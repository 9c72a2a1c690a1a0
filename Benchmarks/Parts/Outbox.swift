import Base
import Glibc
import Storage

extension Parts {
    /// Messages through the outbox on this machine's disk: committed, handed out, acknowledged.
    ///
    /// - Parameter folder: Where the database is put for as long as it takes.
    static func measureOutbox(_ folder: String) throws {
        for atOnce in [1, 20] {
            let directory = "\(folder)/outbox-\(atOnce)"
            mkdir(directory, 0o700)
            let (rate, writes) = try rate(in: directory, atOnce: atOnce, messages: 2000)
            say("outbox: messages a second, \(atOnce) waiting for the disk at a time", rate, "/s")
            say("outbox: transactions for each message, \(atOnce) waiting at a time", writes, "")
            for name in ["state.db", "state.db-wal", "state.db-shm", "lock"] { unlink("\(directory)/\(name)") }
            rmdir(directory)
        }
    }

    private static func rate(in directory: String, atOnce: Int, messages: Int) throws -> (Double, Double) {
        let settings = StoreSettings(
            directory: directory, boot: "benchmark", now: { boottime() }, restamp: { $0.publication.payload })
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        let (reading, writing) = (ends[0], ends[1])
        let store = try Store(settings) {
            var byte: UInt8 = 1
            write(writing, &byte, 1)
        }
        store.submit(.window(20))
        let payload = [UInt8](repeating: UInt8(ascii: "x"), count: 170)
        var (submitted, acknowledged) = (0, 0)
        var start = boottime()
        while acknowledged < messages {
            var bytes: UInt64 = 0
            read(reading, &bytes, MemoryLayout.size(ofValue: bytes))
            for event in store.drain() {
                switch event {
                case .opened: start = boottime()
                case .deliver(let rows, _):
                    for row in rows { store.submit(.acknowledged(row.id)) }
                    acknowledged += rows.count
                case .unavailable(let failure):
                    print("no store: \(failure.error)")
                    exit(74)
                default: continue
                }
            }
            while submitted < messages, submitted - Int(store.counters.commits) < atOnce {
                submitted += 1
                let publication = Publication(
                    .transition, of: "t", topic: "owntracks/jane/hall/event", payload: payload, happened: boottime())
                store.submit(.commit([.message(publication)]))
            }
        }
        let seconds = start.duration(to: boottime()).inSeconds
        let writes = Double(store.counters.transactions) / Double(messages)
        _ = store.stop(within: .seconds(10))
        for end in ends { close(end) }
        return (Double(messages) / seconds, writes)
    }

    private static func boottime() -> MonotonicInstant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return MonotonicInstant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
