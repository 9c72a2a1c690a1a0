import Base
import Beacon
import HostSupport
import Scanning
import Testing

@testable import GatewayApp

/// A scanner whose start fails as long as the test says so.
private final class ScannerDouble: Scanner {
    private(set) var isRunning = false
    private let failure: ScannerError?
    let adapters: [AdapterStatus] = []

    init(failure: ScannerError?) { self.failure = failure }

    func start() throws(ScannerError) {
        if let failure { throw failure }
        isRunning = true
    }

    func stop() { isRunning = false }
}

/// A link whose scanners fail or not, and what it tells.
private final class LinkFixture: RadioOutput {
    let host = ManualHost()
    var failure: ScannerError?
    /// Of all attempts, in their order.
    private(set) var scanners: [ScannerDouble] = []
    private(set) var notices: [String] = []

    func makeLink() -> ScannerLink {
        ScannerLink(way: "bluez", host: host) { [unowned self] _ in
            let scanner = ScannerDouble(failure: failure)
            scanners.append(scanner)
            return scanner
        }
    }

    func heard(_ sighting: Sighting, at instant: MonotonicInstant) {}
    func heard(_ telemetry: BeaconTelemetry, at instant: MonotonicInstant) {}
    func listening(
        _ isListening: Bool, of receiver: Receiver, duty: Double?, at instant: MonotonicInstant, because reason: String
    ) {}
    func pausing(_ isPausing: Bool, of receiver: Receiver, at instant: MonotonicInstant) {}
    func notice(_ notice: Notice) { notices.append(notice.text) }
    func finished(at instant: MonotonicInstant) {}
}

@Suite struct ScannerLinkTests {
    private let fixture = LinkFixture()

    @Test func `A scanner that cannot start is tried again every five seconds, and the reason is told once`() {
        let link = fixture.makeLink()
        fixture.failure = ScannerError(.unavailable, "no bus")
        link.start(fixture)
        fixture.host.advance(by: .seconds(11))
        #expect(fixture.scanners.count == 3)
        #expect(fixture.notices == ["cannot scan: no bus"])
        fixture.failure = nil
        fixture.host.advance(by: .seconds(60))
        #expect(fixture.scanners.map(\.isRunning) == [false, false, false, true])
        #expect(fixture.notices.count == 1)
    }

    @Test func `Another reason why a scanner cannot start is told, too`() {
        let link = fixture.makeLink()
        fixture.failure = ScannerError(.unavailable, "no bus")
        link.start(fixture)
        fixture.failure = ScannerError(.permission, "no right")
        fixture.host.advance(by: .seconds(11))
        #expect(fixture.notices == ["cannot scan: no bus", "cannot scan: no right"])
        link.stop()
    }

    @Test func `A link that is stopped tries no more`() {
        let link = fixture.makeLink()
        fixture.failure = ScannerError(.unavailable, "no bus")
        link.start(fixture)
        link.stop()
        fixture.host.advance(by: .seconds(60))
        #expect(fixture.scanners.count == 1)
    }

    @Test func `A recording that cannot be read is not tried again`() {
        let link = fixture.makeLink()
        fixture.failure = ScannerError(.badInput, "no such file")
        link.start(fixture)
        fixture.host.advance(by: .seconds(60))
        #expect(fixture.scanners.count == 1)
        link.stop()
    }
}
