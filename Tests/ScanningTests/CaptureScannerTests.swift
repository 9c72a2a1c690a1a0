import Base
import Beacon
import HostSupport
import Testing

@testable import Scanning

@Suite("A recording is played at its own pace")
struct CaptureScannerTests {
    private let host = ManualHost()
    private let output = RecordingOutput()

    private func scanner(_ name: String, speed: Double = 1) -> CaptureScanner {
        CaptureScanner(path: fixture(name), speed: speed, host: host, output: output)
    }

    @Test("reports come when they are due, and not before")
    func pace() throws {
        let scanner = scanner("captures/hci.btsnoop")
        host.now = MonotonicInstant(nanoseconds: 1_000_000_000_000)
        try scanner.start()
        host.advance(by: .milliseconds(900))
        #expect(output.heardAt == [1_000_000])
        host.advance(by: .milliseconds(200))
        #expect(output.heardAt == [1_000_000, 1_001_000])
        scanner.stop()
    }

    @Test("a speed of 10 plays 10 seconds in one")
    func speed() throws {
        let scanner = scanner("stay-and-walk.btsnoop", speed: 10)
        try scanner.start()
        host.advance(by: .seconds(64))
        #expect(output.heardAt.count == 1560)
        let last = try #require(output.heardAt.last)
        #expect((63_725...63_735).contains(last))
        scanner.stop()
    }

    @Test("it listens from the start, and goes on listening to silence after the end")
    func silence() throws {
        let scanner = scanner("captures/monitor.btsnoop")
        try scanner.start()
        #expect(output.log == ["hci0 listens"])
        host.advance(by: .seconds(3600))
        #expect(output.log == ["hci0 listens", "hci1 listens", "finished"])
        #expect(scanner.adapters.map(\.isListening) == [true, true])
        #expect(scanner.adapters.map(\.reports) == [1, 1])
        scanner.stop()
        #expect(output.log.suffix(2) == ["hci0 is deaf", "hci1 is deaf"])
    }

    @Test("an empty recording is silence at once")
    func empty() throws {
        let scanner = scanner("captures/empty.btsnoop")
        try scanner.start()
        host.advance(by: .seconds(1))
        #expect(output.log == ["hci0 listens", "finished"])
        scanner.stop()
    }

    @Test("a corrupt recording is played to the fault, which is told")
    func corrupt() throws {
        let scanner = scanner("captures/impossible-length.btsnoop")
        try scanner.start()
        host.advance(by: .seconds(10))
        #expect(output.heardAt.count == 1)
        #expect(output.errors.count == 1)
        #expect(output.log.last == "finished")
        scanner.stop()
    }

    @Test("what is malformed or lost is told of the adapter")
    func counters() throws {
        let scanner = scanner("captures/trailing-bytes.btsnoop")
        try scanner.start()
        host.advance(by: .seconds(10))
        #expect(scanner.adapters.first?.malformed[.trailingBytes] == 2)
        scanner.stop()
        let dropping = self.scanner("captures/drops.btsnoop")
        try dropping.start()
        host.advance(by: .seconds(10))
        #expect(dropping.adapters.first?.lost == 6)
        dropping.stop()
    }

    @Test("it can be stopped from within a report, and nothing more comes")
    func stopWithin() throws {
        let scanner = scanner("captures/two-reports-in-one-event.btsnoop")
        output.onReport = { scanner.stop() }
        try scanner.start()
        host.advance(by: .seconds(10))
        #expect(output.heardAt.count == 1)
        #expect(output.log == ["hci0 listens", "hci0 is deaf"])
        output.onReport = nil
    }

    @Test("it can be started again from the beginning")
    func again() throws {
        let scanner = scanner("captures/hci.btsnoop")
        try scanner.start()
        host.advance(by: .seconds(10))
        try scanner.start()
        host.advance(by: .seconds(10))
        #expect(output.heardAt == [0, 1_000, 10_000, 11_000])
        scanner.stop()
    }

    @Test("a file that is no capture can never work", arguments: ["captures/not-btsnoop.btsnoop", "no such file", ""])
    func unusable(name: String) {
        do throws(ScannerError) {
            try scanner(name).start()
            Issue.record("\(name) was played")
        } catch {
            #expect(error.kind == .badInput)
            #expect(error.description.contains(fixture(name)))
        }
    }

    @Test("a device is refused: the loop cannot wait for it")
    func device() {
        let scanner = CaptureScanner(path: "/dev/null", speed: 1, host: host, output: output)
        #expect(throws: ScannerError.self) { try scanner.start() }
    }
}

/// Keeps what a scanner tells.
private final class RecordingOutput: ScannerOutput {
    /// Milliseconds.
    var heardAt: [Int64] = []
    var log: [String] = []
    var errors: [String] = []
    var onReport: (() -> Void)?

    func heard(_ report: AdvertisingReport, data: Span<UInt8>, by receiver: Receiver, at instant: MonotonicInstant) {
        heardAt.append(instant.nanoseconds / 1_000_000)
        onReport?()
    }

    func listening(_ isListening: Bool, of receiver: Receiver, at instant: MonotonicInstant, because reason: String) {
        log.append("hci\(receiver.index) \(isListening ? "listens" : "is deaf")")
    }

    func notice(_ notice: Notice) {
        if notice.priority == .error { errors.append(notice.text) }
    }

    func finished(at instant: MonotonicInstant) { log.append("finished") }
}
