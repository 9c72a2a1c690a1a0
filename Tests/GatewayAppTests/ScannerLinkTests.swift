import Advertising
import Base
import Beacon
import HostSupport
import KernelScanning
import Scanning
import System
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

    /// Whether every packet was wanted last.
    private(set) var wantsAll = false

    func stop() { isRunning = false }
    func setWantsAll(_ wantsAll: Bool) { self.wantsAll = wantsAll }
}

/// A scanner whose interface may fail while it runs.
private final class MortalScanner: FallibleScanner {
    var failure: ScannerError?
    var hasDied = false
    private(set) var isRunning = false
    let adapters: [AdapterStatus] = []

    func start() throws(ScannerError) { isRunning = true }
    func stop() { isRunning = false }
}

/// A management channel of a kernel that never answers.
private final class SilentChannel: ManagementChannel {
    var onMessage: ((Span<UInt8>, MonotonicInstant) -> Void)?
    var onFailure: ((String) -> Void)?
    func open() {}
    func close() {}
    func send(_ command: ManagementCommand) throws(SystemError) {}
}

/// A link whose scanners fail or not, and what it tells.
private final class LinkFixture: RadioOutput {
    let host = ManualHost()
    var failure: ScannerError?
    /// Of all attempts, in their order.
    private(set) var scanners: [ScannerDouble] = []
    private(set) var notices: [String] = []

    /// iBeacons that presence was told of.
    private(set) var sightings = 0

    func makeLink() -> ScannerLink {
        ScannerLink(scannerName: "bluez", host: host) { [unowned self] _ in makeScanner() }
    }

    func makeScanner() -> ScannerDouble {
        let scanner = ScannerDouble(failure: failure)
        scanners.append(scanner)
        return scanner
    }

    func heard(_ sighting: Sighting, at instant: MonotonicInstant) { sightings += 1 }
    func heard(_ telemetry: BeaconTelemetry, at instant: MonotonicInstant) {}
    func listening(
        _ isListening: Bool, of receiver: Receiver, duty: Double?, at instant: MonotonicInstant, because reason: String
    ) {}
    func pausing(_ isPausing: Bool, of receiver: Receiver, at instant: MonotonicInstant) {}
    func sendingChanged() {}
    func notice(_ notice: Notice) { notices.append(notice.text) }
    func finished(at instant: MonotonicInstant) {}
}

@Suite struct ScannerLinkTests {
    private let fixture = LinkFixture()

    @Test func `A scanner whose interface has failed is replaced, one that was only refused something is not`() {
        var scanners: [MortalScanner] = []
        let link = ScannerLink(scannerName: "mgmt", host: fixture.host) { _ in
            scanners.append(MortalScanner())
            return scanners[scanners.count - 1]
        }
        link.start(fixture)
        scanners[0].failure = ScannerError(.unavailable, "the kernel sets no advertisement monitors")
        fixture.host.advance(by: .seconds(60))
        #expect(scanners.count == 1 && scanners[0].isRunning)
        scanners[0].hasDied = true
        fixture.host.advance(by: .seconds(5))
        #expect(scanners.map(\.isRunning) == [false, true])
        link.stop()
        scanners[1].hasDied = true
        fixture.host.advance(by: .seconds(60))
        #expect(scanners.map(\.isRunning) == [false, false])
    }

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

    @Test func `A restart of the scan leaves what is sent alone`() {
        let link = ScannerLink(
            scannerName: "mgmt", host: fixture.host,
            makeSender: { [fixture] pause in
                BeaconSender(.all, host: fixture.host, pauseScan: pause) { SilentChannel() }
            }
        ) { [fixture] _ in fixture.makeScanner() }
        link.start(fixture)
        link.send(BeaconID(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4))
        #expect(link.sending == .asked)
        link.restartScan()
        #expect(link.sending == .asked)
        #expect(fixture.scanners.map(\.isRunning) == [false, true])
        link.stop()
        #expect(fixture.scanners.map(\.isRunning) == [false, false])
    }

    /// Hears an iBeacon and a thermometer.
    private func hear(_ link: ScannerLink) {
        let iBeacon: [UInt8] = [26, 0xff, 0x4c, 0, 2, 21] + [UInt8](repeating: 7, count: 16) + [0, 1, 0, 2, 0xc5]
        let address = DeviceAddress(littleEndian: [1, 2, 3, 4, 5, 6].span, at: 0, isRandom: true)
        guard let address else { return }
        for data in [iBeacon, [6, 0x16, 0xd2, 0xfc, 0x40, 1, 0x5d]] {
            let report = AdvertisingReport(address: address, rssi: RSSI(reported: -60))
            link.heard(report, data: data.span, by: Receiver(index: 0), at: fixture.host.now)
        }
    }

    @Test func `While somebody takes every packet, presence hears what it hears otherwise, and then nobody gets any`() {
        let link = fixture.makeLink()
        link.start(fixture)
        var packets: [[UInt8]] = []
        hear(link)
        #expect(fixture.sightings == 1)
        link.setTap { report, data, _ in
            packets.append([UInt8(truncatingIfNeeded: report.address.value)] + data.indices.map { data[$0] })
        }
        #expect(fixture.scanners.last?.wantsAll == true)
        hear(link)
        #expect(fixture.sightings == 2)
        #expect(packets.map(\.count) == [28, 8])
        link.setTap(nil)
        #expect(fixture.scanners.last?.wantsAll == false)
        hear(link)
        #expect(fixture.sightings == 3)
        #expect(packets.count == 2)
        link.stop()
    }
}
