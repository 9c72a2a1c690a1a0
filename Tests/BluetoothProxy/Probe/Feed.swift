import Base
import Beacon
import BluetoothProxy
import Glibc
import ProxyLink
import Runtime
import System

/// A radio that hears the same number of packets in each second.
final class Feed {
    private let link: ProxyLink
    private var timer: LoopTimer?
    private var rate: Int64 = 0
    private var begin = MonotonicInstant.zero
    private var end = MonotonicInstant.zero
    private var heard: Int64 = 0
    /// How late each packet was heard, nanoseconds: what the machine alone costs.
    private var lateness: [Int64] = []

    init(_ link: ProxyLink, _ loop: EventLoop) throws {
        self.link = link
        timer = try loop.timer(tolerance: .microseconds(1)) { [unowned self] in tick($0) }
    }

    func start(_ rate: Int64, _ duration: Duration) {
        (self.rate, heard, lateness) = (rate, 0, [])
        lateness.reserveCapacity(Int(rate * duration.nanoseconds / 1_000_000_000))
        begin = Clocks.now()
        end = begin.advanced(by: duration)
        tick(begin)
    }

    private func tick(_ now: MonotonicInstant) {
        let wanted = rate * min(begin.duration(to: now), begin.duration(to: end)).nanoseconds / 1_000_000_000
        while heard < wanted {
            let due = begin.advanced(by: .nanoseconds(heard * 1_000_000_000 / rate))
            lateness.append(due.duration(to: Clocks.now()).nanoseconds)
            hear()
        }
        guard now < end else { return Probe.say("fed \(heard) \(usage) \(late)") }
        try? timer?.arm(at: now.advanced(by: .milliseconds(1)))
    }

    /// An iBeacon of Apple's length: its number and its time in the place of the UUID.
    private func hear() {
        var data: [UInt8] = [2, 1, 0x1a, 26, 0xff, 0x4c, 0, 2, 21]
        for value in [UInt64(heard), UInt64(bitPattern: Clocks.now().nanoseconds)] {
            withUnsafeBytes(of: value.bigEndian) { data += $0 }
        }
        data += [0, 1, 0, UInt8(truncatingIfNeeded: heard), 0xc5]
        let address = DeviceAddress(value: 0xC000_0000_0000 | UInt64(heard % 500), isRandom: true)
        link.handle(.heard(AdvertisingReport(address: address, rssi: RSSI(reported: -60)), data: data))
        heard += 1
    }

    private var late: String {
        let sorted = lateness.sorted()
        guard let most = sorted.last else { return "late_ms=0/0/0" }
        let values = [sorted[sorted.count / 2], sorted[sorted.count * 99 / 100], most]
        return "late_ms=" + values.map { "\(Double($0 / 10_000) / 100)" }.joined(separator: "/")
    }

    /// Processor time in milliseconds, memory in kB, and the clients' packets.
    var usage: String {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let time = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
        let rest = (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000
        let resident = (try? FileAccess.read("/proc/self/statm")).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let pages = resident.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        let clients = link.status.clients.map { "\($0.sent)/\($0.dropped)/\($0.queued)" }.joined(separator: ",")
        return "cpu_ms=\(time * 1000 + rest) rss_kb=\(pages * 4) clients=\(clients)"
    }
}
