import Base
import Glibc
import Storage

/// Writes to a store until it is killed, and says on standard output what it was told: "c N" for commit N,
/// "a N" when it has asked to forget message N. The parent compares that with what is on the disk.
@main enum StorageCrashChild {
    static func main() throws {
        guard CommandLine.arguments.count == 3, let start = Int(CommandLine.arguments[2]) else { exit(64) }
        let settings = StoreSettings(
            directory: CommandLine.arguments[1], boot: "boot",
            now: {
                var time = timespec()
                clock_gettime(CLOCK_BOOTTIME, &time)
                return MonotonicInstant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
            }, restamp: { $0.publication.payload })
        let store = try Store(settings, wake: {})
        store.submit(.window(20))

        var number = start
        var confirmed = start
        while true {
            for event in store.drain() {
                switch event {
                case .opened: say("o")
                case .deliver(let rows, _):
                    for row in rows where row.id.isMultiple(of: 2) {
                        say("a \(row.publication.text)")
                        store.submit(.acknowledged(row.id))
                    }
                case .unavailable(let failure): say("u \(failure.error)")
                default: break
                }
            }
            // Commits are written in their order.
            while confirmed < start + Int(store.counters.commits) {
                confirmed += 1
                say("c \(confirmed)")
            }
            while number - confirmed < 5 {
                number += 1
                let payload = Array("\(number)".utf8)
                let message = Publication(
                    .transition, of: "t", topic: "t/event", payload: payload, happened: settings.now())
                let presence =
                    number % 8 == 1
                    ? StoreChange.presence(
                        PresenceRecord(version: 1, state: payload, savedAt: settings.now()))
                    : .presenceChange(payload)
                store.submit(.commit([.message(message), presence]))
            }
            usleep(500)
        }
    }
}

private func say(_ text: String) {
    var line = Array((text + "\n").utf8)
    _ = write(1, &line, line.count)
}
