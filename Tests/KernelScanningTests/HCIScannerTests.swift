import Base
import Beacon
import HostSupport
import Scanning
import System
import Testing

@testable import KernelScanning

/// A scanner by HCI commands over a script, and what it tells.
private final class HCIScannerFixture: ScannerOutput {
    let kernel = ScriptedKernel()
    private(set) var events: [String] = []
    private(set) var notices: [String] = []

    /// A scanner whose adapter is on.
    func started(_ mode: HCIScanner.Mode) throws -> HCIScanner {
        let scanner = try HCIScanner(
            selection: .all, duty: .full, mode: mode, host: kernel.host, kernel: kernel, output: self)
        try scanner.start()
        kernel.informs(0, isPowered: true)
        return scanner
    }

    func heard(_ report: AdvertisingReport, data: Span<UInt8>, by receiver: Receiver, at instant: MonotonicInstant) {
        events.append("heard")
    }
    func listening(_ isListening: Bool, of receiver: Receiver, at instant: MonotonicInstant, because reason: String) {
        events.append(isListening ? "listens" : "is deaf")
    }
    func notice(_ notice: Notice) { notices.append(notice.text) }
    func finished(at instant: MonotonicInstant) {}

    func drainEvents() -> [String] {
        defer { events = [] }
        return events
    }

    /// The controller answers with its commands, then to LE Set Scan Parameters.
    func answersParameters(status: UInt8) {
        kernel.hci[0]?.completes(0x1002, [UInt8](repeating: 0, count: 64))
        kernel.hci[0]?.completes(0x200b, status: status)
    }

    /// LE Advertising Report: one report of four octets of data.
    func report() {
        let report: [UInt8] = [0, 0, 1, 2, 3, 4, 5, 6, 3, 2, 1, 6, 0xff, 0xc0]
        kernel.hci[0]?.queue.append([0x04, 0x3e, UInt8(report.count + 2), 0x02, 1] + report)
        kernel.hci[0]?.deliver()
    }
}

@Suite struct HCIScannerTests {
    @Test func `While another program scans nothing is heard, and all when the own scan is on`() throws {
        let fixture = HCIScannerFixture()
        let scanner = try fixture.started(.scan)
        fixture.answersParameters(status: 0x0c)
        fixture.report()
        #expect(fixture.drainEvents() == ["is deaf"])
        #expect(fixture.notices.contains { $0.contains("hears nothing until it ends") })
        fixture.kernel.host.advance(by: .seconds(5))
        fixture.kernel.hci[0]?.completes(0x200b)
        fixture.kernel.hci[0]?.completes(0x200c)
        fixture.report()
        #expect(fixture.drainEvents() == ["listens", "heard"])
        #expect(scanner.adapters.map(\.reports) == [1])
    }

    @Test func `What comes after another program has changed the scan is not heard until it is on again`() throws {
        let fixture = HCIScannerFixture()
        let scanner = try fixture.started(.scan)
        fixture.answersParameters(status: 0)
        fixture.kernel.hci[0]?.completes(0x200c)
        fixture.report()
        #expect(fixture.drainEvents() == ["listens", "heard"])
        fixture.kernel.hci[0]?.queue.append([1, 0x0c, 0x20, 2, 0, 0])
        fixture.kernel.hci[0]?.completes(0x200c)
        fixture.report()
        #expect(fixture.drainEvents() == ["is deaf"])
        fixture.kernel.host.advance(by: .seconds(1))
        fixture.answersParameters(status: 0)
        fixture.kernel.hci[0]?.completes(0x200c)
        fixture.report()
        #expect(fixture.drainEvents() == ["listens", "heard"])
        #expect(scanner.adapters.map(\.restarts) == [1])
    }

    @Test func `A controller that refuses is asked at most once a second, is reset, and listens when it accepts`()
        throws
    {
        let fixture = HCIScannerFixture()
        let scanner = try fixture.started(.scan)
        fixture.answersParameters(status: 0)
        var refusals = 0
        for second in 0..<60 {
            while fixture.kernel.hci[0]?.commands.last?.command == 0x0c, refusals <= second {
                refusals += 1
                fixture.kernel.hci[0]?.completes(0x200c, status: 0x0c)
            }
            fixture.kernel.host.advance(by: .seconds(1))
            if fixture.kernel.hci[0]?.commands.last?.command == 0x0b { fixture.kernel.hci[0]?.completes(0x200b) }
        }
        #expect(fixture.drainEvents() == ["is deaf"])
        #expect(fixture.notices.filter { !$0.contains("reset") }.isEmpty, "the refusal is told by the state")
        #expect(scanner.adapters.allSatisfy { $0.trouble != nil })
        #expect(refusals <= 20)
        #expect(scanner.adapters.allSatisfy { $0.resets >= 1 })
    }

    @Test func `A controller that does not answer is told with that reason, whatever ended the scan before`() throws {
        let fixture = HCIScannerFixture()
        let scanner = try fixture.started(.scan)
        fixture.answersParameters(status: 0)
        fixture.kernel.hci[0]?.completes(0x200c)
        fixture.kernel.hci[0]?.queue.append([1, 0x0c, 0x20, 2, 0, 0])
        fixture.kernel.hci[0]?.completes(0x200c)
        #expect(fixture.drainEvents() == ["listens", "is deaf"])
        for _ in 1...2 {
            fixture.kernel.host.advance(by: .seconds(1))
            fixture.answersParameters(status: 0)
            fixture.kernel.host.advance(by: .milliseconds(2500))
        }
        let reason = "the controller does not answer the command to scan"
        #expect(scanner.adapters.map(\.trouble) == [reason])
        #expect(fixture.notices.filter { $0.hasSuffix(reason) }.count == 1)
        fixture.kernel.switches(0, isPowered: false)
        fixture.kernel.switches(0, isPowered: true)
        fixture.answersParameters(status: 0)
        fixture.kernel.hci[0]?.completes(0x200c)
        #expect(fixture.drainEvents() == ["listens"])
        #expect(scanner.adapters.map(\.trouble) == [nil])
    }

    @Test func `A raw socket that does not open is told once with the reason, and tried each second`() throws {
        let fixture = HCIScannerFixture()
        fixture.kernel.socketRefusal = SystemError("hci_open_dev", code: 24)
        let scanner = try fixture.started(.scan)
        fixture.kernel.host.advance(by: .seconds(10))
        let reason = "its raw HCI socket does not open: hci_open_dev: Too many open files"
        #expect(scanner.adapters.map(\.trouble) == [reason])
        #expect(fixture.notices == ["hci0: \(reason); it hears nothing; trying again"])
        #expect(fixture.drainEvents() == ["is deaf"])
        fixture.kernel.socketRefusal = nil
        fixture.kernel.host.advance(by: .seconds(1))
        fixture.answersParameters(status: 0)
        fixture.kernel.hci[0]?.completes(0x200c)
        #expect(fixture.drainEvents() == ["listens"])
        #expect(scanner.adapters.map(\.trouble) == [nil])
    }

    @Test func `In the listen-only mode the reports of other programs' scans are heard`() throws {
        let fixture = HCIScannerFixture()
        let scanner = try fixture.started(.listenOnly)
        fixture.report()
        #expect(fixture.drainEvents() == ["listens", "heard"])
        #expect(scanner.adapters.map(\.isListening) == [true])
    }
}
