import Base
import Beacon
import HostSupport
import Presence
import Regions
import Scanning
import System
import Testing

@testable import KernelScanning

/// A scanner over a script, and what it tells.
private final class ScannerFixture: ScannerOutput {
    let kernel = ScriptedKernel()
    private(set) var events: [String] = []
    private(set) var notices: [String] = []
    /// What presence decides of one beacon, which every report is taken for.
    private var presence = PresenceEngine()
    var decisions: [PresenceEngine.Effect] = []

    init() {
        let region = MonitoredRegion(
            key: RegionKey(tracker: 0, rid: "home"), pattern: BeaconPattern(uuid: Self.beacon.uuid))
        decide(.regions([region]), at: .zero)
    }

    private static let beacon = BeaconID(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)

    private func decide(_ input: PresenceEngine.Input, at instant: MonotonicInstant) {
        decisions += presence.handle(input, at: instant)
    }

    /// - Parameter commands: what the kernel says it can do.
    func make(commands: [ManagementCommand.Opcode] = [.addPatternsMonitor]) throws -> MgmtScanner {
        let list = commands.flatMap { ScriptedKernel.octets($0.rawValue) }
        let answer = ScriptedKernel.message(
            1, ManagementCommand.noIndex,
            [2, 0, 0] + ScriptedKernel.octets(UInt16(commands.count)) + [0, 0] + list)
        kernel.management.answer = { $0[0] == 2 ? answer : nil }
        return try MgmtScanner(
            selection: .all, duty: .full, host: kernel.host, kernel: kernel, output: self)
    }

    /// A scanner whose adapters listen.
    func started(adapters: [UInt16] = [0]) throws -> MgmtScanner {
        let scanner = try make()
        try scanner.start()
        for index in adapters {
            kernel.informs(index, isPowered: true)
            kernel.grants(index)
        }
        #expect(drainEvents() == adapters.map { "\($0) listens" })
        _ = kernel.sent()
        return scanner
    }

    func heard(
        _ report: AdvertisingReport, data: Span<UInt8>, by receiver: Receiver,
        at instant: MonotonicInstant
    ) {
        events.append("\(receiver.index) heard")
        let sighting = Sighting(
            beacon: Self.beacon, measuredPower: MeasuredPower(dBm: -59), rssi: report.rssi, receiver: receiver)
        decide(.sighting(sighting), at: instant)
    }
    func listening(
        _ isListening: Bool, of receiver: Receiver, at instant: MonotonicInstant, because reason: String
    ) {
        events.append("\(receiver.index) \(isListening ? "listens" : "is deaf")")
        decide(.listening(receiver, isListening), at: instant)
    }
    func pausing(_ isPausing: Bool, of receiver: Receiver, at instant: MonotonicInstant) {
        events.append("\(receiver.index) \(isPausing ? "pauses" : "goes on")")
        decide(.listening(receiver, !isPausing), at: instant)
    }
    func notice(_ notice: Notice) { notices.append(notice.text) }
    func finished(at instant: MonotonicInstant) {}

    /// - Parameter pauses: Whether those for a moment count.
    func drainEvents(pauses: Bool = false) -> [String] {
        defer { events = [] }
        return events.filter { pauses || !$0.hasSuffix("pauses") && !$0.hasSuffix("goes on") }
    }

    /// An adapter appears, on which there is no room for a monitor beside these.
    func findsNoRoom(monitors: UInt8) {
        kernel.informs(0, isPowered: true)
        // The first refusal means the patterns for telemetry.
        for _ in 0..<2 { kernel.answers(.addPatternsMonitor, 0, status: ManagementStatus.noResources) }
        #expect(kernel.sent().last == "readMonitorFeatures 0")
        kernel.answers(.readMonitorFeatures, 0, Self.features(monitors: monitors))
    }

    /// Supported and enabled features, at most 32 handles of 16 patterns, and the number of handles.
    static func features(monitors: UInt8, isFiltering: Bool = false) -> [UInt8] {
        let features: UInt8 = isFiltering ? 1 : 0
        return [features, 0, 0, 0, features, 0, 0, 0, 32, 0, 16, monitors, 0]
    }

    /// The kernel sets the monitor of adapter 0, if one was asked for since this was called last. It says nothing of the scan.
    func setsWantedMonitor() {
        if kernel.sent().contains("addPatternsMonitor 0") { kernel.answers(.addPatternsMonitor, 0, [1, 0]) }
    }

    func wait(_ duration: Duration) {
        kernel.host.advance(by: duration)
        decide(.tick, at: kernel.host.now)
    }

    /// - Parameter beacon: The last octet of the address.
    func report(_ index: UInt16, beacon: UInt8 = 0x0a) {
        var message = Array(ManagementEventTests.found.dropFirst(6))
        // Behind the monitor's handle.
        message[2] = beacon
        kernel.says(0x002f, index, message)
    }

    /// Two beacons are heard every half second, in turn, for a minute.
    func hearsTwoBeacons() {
        for count in 0..<240 {
            report(0, beacon: UInt8(1 + count % 2))
            wait(.milliseconds(250))
        }
        #expect(drainEvents(pauses: true).allSatisfy { $0 == "0 heard" })
        decisions = []
    }
}

@Suite struct MgmtScannerTests {
    @Test
    func
        `A pause of the scan ends it at the controller, is told as a pause, and ends with the monitor that is set again`()
        throws
    {
        let fixture = ScannerFixture()
        let scanner = try fixture.started()
        scanner.pauseScan(true, by: Receiver(index: 0))
        // LE Set Scan Enable: off, whoever scans.
        let command = try #require(fixture.kernel.hci[0]?.commands.first)
        #expect(command.group == 8 && command.command == 0x0c && command.parameters == [0, 0])
        #expect(fixture.kernel.sent() == [], "the kernel's monitors stay, those of other programs too")
        fixture.kernel.stopsScan(0)
        #expect(fixture.drainEvents(pauses: true) == ["0 pauses"])
        scanner.pauseScan(false, by: Receiver(index: 0))
        #expect(
            fixture.kernel.sent() == ["removeMonitor 0", "setDefaultSystemConfiguration 0", "addPatternsMonitor 0"])
        fixture.kernel.grants(0, handle: 2)
        #expect(fixture.drainEvents(pauses: true) == ["0 goes on"])
        fixture.wait(.seconds(3))
        #expect(fixture.kernel.sent() == [], "and is not set once more")
    }

    @Test func `A pause that nobody ends is ended after a second`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.started()
        scanner.pauseScan(true, by: Receiver(index: 0))
        fixture.kernel.stopsScan(0)
        fixture.wait(.milliseconds(999))
        #expect(fixture.kernel.sent() == [])
        fixture.wait(.milliseconds(2))
        #expect(fixture.kernel.sent().last == "addPatternsMonitor 0")
    }

    @Test func `Where the commands of the scan cannot be seen, the monitor is removed for the pause`() throws {
        let fixture = ScannerFixture()
        fixture.kernel.capabilities = [.netAdmin]
        let scanner = try fixture.make()
        try scanner.start()
        fixture.kernel.informs(0, isPowered: true)
        fixture.kernel.grants(0)
        _ = fixture.kernel.sent()
        scanner.pauseScan(true, by: Receiver(index: 0))
        #expect(fixture.kernel.sent() == ["removeMonitor 0"])
        scanner.pauseScan(false, by: Receiver(index: 0))
        #expect(fixture.kernel.sent() == ["setDefaultSystemConfiguration 0", "addPatternsMonitor 0"])
        fixture.kernel.grants(0, handle: 2)
        // One that nobody ends.
        scanner.pauseScan(true, by: Receiver(index: 0))
        _ = fixture.kernel.sent()
        fixture.wait(.seconds(1))
        #expect(fixture.kernel.sent() == ["setDefaultSystemConfiguration 0", "addPatternsMonitor 0"])
    }

    @Test func `An adapter listens when the kernel has granted the monitor`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.make()
        try scanner.start()
        _ = fixture.kernel.sent()
        fixture.kernel.informs(0, isPowered: true)
        #expect(fixture.kernel.sent() == ["setDefaultSystemConfiguration 0", "addPatternsMonitor 0"])
        #expect(fixture.events.isEmpty)
        fixture.kernel.grants(0)
        #expect(fixture.drainEvents() == ["0 listens"])
        #expect(scanner.adapters.map(\.isListening) == [true])
        #expect(scanner.adapters.map(\.duty) == [1])
    }

    @Test(arguments: [(true, ScannerError.Kind.unavailable), (false, .permission)])
    func `Without monitors in the kernel's list it says what is missing`(
        isHeld: Bool, kind: ScannerError.Kind
    ) throws {
        let fixture = ScannerFixture()
        if !isHeld { fixture.kernel.capabilities = [] }
        let scanner = try fixture.make(commands: [.setPowered])
        let error = #expect(throws: ScannerError.self) { try scanner.start() }
        #expect(error?.kind == kind)
    }

    @Test func `Reports go on with the receiver that heard them`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.started(adapters: [0, 1])
        fixture.report(1)
        fixture.report(0)
        fixture.report(1)
        #expect(fixture.drainEvents() == ["1 heard", "0 heard", "1 heard"])
        #expect(scanner.adapters.map(\.reports) == [1, 2])
    }

    @Test func `A refused duty leaves the kernel's own, which the commands show`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.make()
        try scanner.start()
        fixture.kernel.informs(0, isPowered: true)
        fixture.kernel.answers(.setDefaultSystemConfiguration, 0, status: 0x0d)
        fixture.kernel.grants(0, window: 48)
        #expect(fixture.drainEvents() == ["0 listens"])
        #expect(scanner.adapters.map(\.duty) == [0.5])
    }

    /// Window of every 60 ms in units of 0.625 ms, as the kernel is asked for it.
    @Test(arguments: [(1.0, 96), (0.5, 48), (0.25, 24), (0.1, 10), (0.05, 5)] as [(Double, UInt8)])
    func `The kernel is asked for the window that fits the share`(share: Double, window: UInt8) throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.make()
        scanner.setDuty(ScanDuty(share: share))
        try scanner.start()
        fixture.kernel.management.sent = []
        fixture.kernel.informs(0, isPowered: true)
        // LE scan interval and window of advertisement monitors, each with a length of 2.
        #expect(
            fixture.kernel.management.sent.first?.suffix(10) == [0x13, 0, 2, 96, 0, 0x14, 0, 2, window, 0])
        fixture.kernel.grants(0, window: window)
        #expect(scanner.adapters.map(\.duty) == [Double(window) / 96])
    }

    @Test func `Another duty replaces the monitor while the scanner runs, and is no restart`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.started()
        scanner.setDuty(ScanDuty(share: 0.25))
        #expect(
            fixture.kernel.sent() == ["removeMonitor 0", "setDefaultSystemConfiguration 0", "addPatternsMonitor 0"])
        #expect(scanner.adapters.map(\.duty) == [1], "until the kernel has taken it")
        fixture.kernel.answers(.setDefaultSystemConfiguration, 0)
        fixture.kernel.grants(0, handle: 2, window: 24)
        #expect(fixture.drainEvents() == ["0 listens"], "so that presence learns of it")
        #expect(scanner.adapters.map(\.duty) == [0.25])
        #expect(scanner.adapters.map(\.restarts) == [0])
        scanner.setDuty(ScanDuty(share: 0.25))
        #expect(fixture.kernel.sent().isEmpty, "the same duty changes nothing")
    }

    @Test func `A duty that changes while the kernel is asked for another is set afterwards`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.started()
        scanner.setDuty(ScanDuty(share: 0.5))
        _ = fixture.kernel.sent()
        scanner.setDuty(ScanDuty(share: 0.25))
        #expect(fixture.kernel.sent().isEmpty)
        fixture.kernel.grants(0, handle: 2, window: 48)
        #expect(scanner.adapters.map(\.duty) == [0.5])
        #expect(
            fixture.kernel.sent() == ["removeMonitor 0", "setDefaultSystemConfiguration 0", "addPatternsMonitor 0"])
        fixture.kernel.grants(0, handle: 3, window: 24)
        #expect(scanner.adapters.map(\.duty) == [0.25])
    }

    @Test func `A monitor that is taken away is asked for again, by that adapter alone`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.started(adapters: [0, 1])
        fixture.kernel.says(0x002c, 1, [1, 0])
        #expect(fixture.drainEvents() == ["1 is deaf"])
        fixture.wait(.milliseconds(50))
        #expect(fixture.kernel.sent() == ["setDefaultSystemConfiguration 1", "addPatternsMonitor 1"])
        fixture.kernel.grants(1, handle: 2)
        #expect(fixture.drainEvents() == ["1 listens"])
        #expect(scanner.adapters.map(\.restarts) == [0, 1])
    }

    @Test func `Another program's monitor that is taken away changes nothing`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.started()
        fixture.kernel.says(0x002c, 0, [9, 0])
        #expect(fixture.events.isEmpty)
        #expect(scanner.adapters.map(\.isListening) == [true])
    }

    @Test func `Where all monitors are taken it listens through those of others`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.make()
        try scanner.start()
        fixture.findsNoRoom(monitors: 32)
        #expect(fixture.drainEvents() == [], "the kernel scans already, but no command shows it")
        fixture.report(0)
        #expect(fixture.drainEvents() == ["0 listens", "0 heard"])
        #expect(scanner.failure == nil)
    }

    @Test func `A monitor of others that is taken away makes room for its own, with the patterns for telemetry`() throws
    {
        let fixture = ScannerFixture()
        let scanner = try fixture.make()
        try scanner.start()
        fixture.findsNoRoom(monitors: 32)
        fixture.report(0)
        _ = fixture.drainEvents()
        for handle: UInt8 in 1...32 { fixture.kernel.says(0x002c, 0, [handle, 0]) }
        #expect(fixture.drainEvents() == ["0 is deaf"])
        fixture.kernel.management.sent = []
        fixture.wait(.milliseconds(50))
        // The number of patterns stands first.
        #expect(fixture.kernel.management.sent.last?[6] == UInt8(1 + BeaconPacketPattern.telemetry.count))
        #expect(fixture.kernel.sent() == ["setDefaultSystemConfiguration 0", "addPatternsMonitor 0"])
        fixture.kernel.grants(0, handle: 33)
        #expect(fixture.drainEvents() == ["0 listens"])
        #expect(!fixture.notices.contains { $0.contains("telemetry") })
        #expect(scanner.adapters.map(\.isListening) == [true])
    }

    @Test func `A controller without room for a monitor is deaf, although the kernel has monitors left`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.make()
        try scanner.start()
        fixture.findsNoRoom(monitors: 1)
        #expect(fixture.drainEvents() == ["0 is deaf"])
        for refusal in 2...5 {
            #expect(scanner.failure == nil, "refusal \(refusal)")
            fixture.wait(.seconds(1))
            fixture.kernel.answers(.addPatternsMonitor, 0, status: ManagementStatus.noResources)
            fixture.kernel.answers(.readMonitorFeatures, 0, ScannerFixture.features(monitors: 1))
        }
        #expect(scanner.failure?.kind == .unavailable)
        #expect(fixture.drainEvents().isEmpty)
    }

    @Test(
        arguments: [
            (1, [.identities, .telemetry]), (3, [.telemetry]), (5, [.telemetry]), (100, []),
        ] as [(UInt8, [BeaconPacketPattern.Kind])])
    func `An adapter with little room is asked for as many patterns as it takes, and what gives way is shown`(
        room: UInt8, unheard: [BeaconPacketPattern.Kind]
    ) throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.make()
        try scanner.start()
        scanner.setPatterns([BeaconPacketPattern(type: 0xff, offset: 2, start: [0xbe, 0xac])])
        fixture.kernel.informs(0, isPowered: true)
        var asked: UInt8 = 0
        for answer in 1...20 {
            let requests = fixture.kernel.management.sent.filter { $0.first == 0x52 }
            guard let request = requests.last else { break }
            asked = request[6]
            fixture.kernel.management.sent = []
            if asked > room {
                fixture.kernel.answers(.addPatternsMonitor, 0, status: 0x03)
            } else {
                fixture.kernel.grants(0, handle: UInt8(answer))
            }
        }
        let wanted = 2 + BeaconPacketPattern.telemetry.count
        #expect(asked == min(room, UInt8(wanted)))
        #expect(fixture.drainEvents() == ["0 listens"])
        #expect(scanner.adapters.map(\.unheard) == [unheard])
        #expect(
            fixture.notices.filter { $0.contains("has room for \(room) of \(wanted) patterns") }.count
                == (unheard.isEmpty ? 0 : 1))
        #expect(scanner.failure == nil)
    }

    @Test func `A listening adapter is asked for other packets when they are wanted, and once only`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.started()
        let wanted = [BeaconPacketPattern(type: 0xff, offset: 2, start: [0xbe, 0xac])]
        for _ in 0..<2 { scanner.setPatterns(wanted) }
        #expect(
            fixture.kernel.sent() == ["removeMonitor 0", "setDefaultSystemConfiguration 0", "addPatternsMonitor 0"])
        fixture.kernel.grants(0, handle: 2)
        #expect(fixture.kernel.sent().isEmpty)
    }

    private func features(isFiltering: Bool) -> [UInt8] {
        ScannerFixture.features(monitors: 1, isFiltering: isFiltering)
    }

    @Test
    func `While every packet is wanted, a controller that matches patterns is asked for all, and presence hears on`()
        throws
    {
        let fixture = ScannerFixture()
        let scanner = try fixture.started()
        scanner.setWantsAll(true)
        #expect(fixture.kernel.sent() == ["readMonitorFeatures 0"])
        fixture.kernel.answers(.readMonitorFeatures, 0, features(isFiltering: true))
        let own = 1 + BeaconPacketPattern.telemetry.count
        #expect(fixture.kernel.management.sent.last?[6] == UInt8(own + BeaconPacketPattern.everything.count))
        #expect(
            fixture.kernel.sent() == ["removeMonitor 0", "setDefaultSystemConfiguration 0", "addPatternsMonitor 0"])
        fixture.kernel.grants(0, handle: 2)
        #expect(fixture.drainEvents().isEmpty, "it listens all the time")
        scanner.setWantsAll(false)
        #expect(fixture.kernel.management.sent.last?[6] == UInt8(own))
        fixture.kernel.grants(0, handle: 3)
        #expect(fixture.drainEvents().isEmpty && scanner.adapters.map(\.isListening) == [true])
    }

    @Test func `A controller that delivers everything anyway is left alone while every packet is wanted`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.started()
        scanner.setWantsAll(true)
        fixture.kernel.answers(.readMonitorFeatures, 0, features(isFiltering: false))
        scanner.setWantsAll(false)
        scanner.setWantsAll(true)
        #expect(fixture.kernel.sent() == ["readMonitorFeatures 0"])
    }

    @Test func `A controller without room for all packets keeps the patterns of presence, and that is shown`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.started()
        scanner.setWantsAll(true)
        fixture.kernel.management.sent = []
        fixture.kernel.answers(.readMonitorFeatures, 0, features(isFiltering: true))
        let room = UInt8(1 + BeaconPacketPattern.telemetry.count)
        for handle: UInt8 in 2...20 {
            guard let asked = fixture.kernel.management.sent.last(where: { $0.first == 0x52 })?[6] else { break }
            fixture.kernel.management.sent = []
            if asked > room {
                fixture.kernel.answers(.addPatternsMonitor, 0, status: 0x0d)
            } else {
                fixture.kernel.grants(0, handle: handle)
            }
        }
        #expect(scanner.adapters.map(\.unheard) == [[.others]])
        #expect(scanner.adapters.map(\.isListening) == [true] && scanner.failure == nil)
    }

    @Test func `An adapter that comes while every packet is wanted is asked, too`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.make()
        scanner.setWantsAll(true)
        try scanner.start()
        fixture.kernel.informs(0, isPowered: true)
        _ = fixture.kernel.sent()
        fixture.kernel.grants(0)
        #expect(fixture.kernel.sent() == ["readMonitorFeatures 0"])
        #expect(fixture.drainEvents() == ["0 listens"])
    }

    @Test func `A kernel that is busy is asked again each second, however often`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.make()
        try scanner.start()
        fixture.kernel.informs(0, isPowered: true)
        for _ in 0..<20 {
            _ = fixture.kernel.sent()
            fixture.kernel.answers(.addPatternsMonitor, 0, status: ManagementStatus.busy)
            fixture.wait(.seconds(1))
            #expect(fixture.kernel.sent().contains("addPatternsMonitor 0"))
        }
        #expect(scanner.failure == nil)
        #expect(fixture.notices.isEmpty)
    }

    @Test func `Five refusals in a row on every adapter mean that this way does not work`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.make()
        try scanner.start()
        for index: UInt16 in [0, 1] { fixture.kernel.informs(index, isPowered: true) }
        // The first refusal means the patterns for telemetry.
        for index: UInt16 in [0, 1] { fixture.kernel.answers(.addPatternsMonitor, index, status: 0x0b) }
        for refusal in 1...5 {
            for index: UInt16 in [0, 1] {
                #expect(scanner.failure == nil, "refusal \(refusal) of \(index)")
                fixture.kernel.answers(.addPatternsMonitor, index, status: 0x0b)
            }
            fixture.wait(.seconds(1))
        }
        #expect(scanner.failure?.kind == .unavailable)
        #expect(fixture.notices.filter { $0.contains("no advertisement monitor") }.count == 2)
    }

    @Test func `An adapter that is refused from the start is reported deaf, once, and delivers nothing`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.make()
        try scanner.start()
        fixture.kernel.informs(0, isPowered: true)
        // The first refusal means the patterns for telemetry.
        for _ in 1...3 {
            fixture.kernel.answers(.addPatternsMonitor, 0, status: 0x0b)
            fixture.wait(.seconds(1))
        }
        // Through another program's scan.
        fixture.report(0)
        #expect(fixture.drainEvents() == ["0 is deaf"])
        #expect(scanner.adapters.map(\.isListening) == [false])
        #expect(scanner.adapters.map(\.reports) == [0])
    }

    @Test func `What a refused adapter hears through another program's scan lets no beacon enter and leave`() throws {
        let fixture = ScannerFixture()
        fixture.kernel.controller = { _ in ScriptedHCISocket.complete(0x1009, [1, 2, 3, 4, 5, 6]) }
        let scanner = try fixture.started()
        fixture.kernel.informs(1, isPowered: true)
        for _ in 1...1200 {
            fixture.kernel.answers(.addPatternsMonitor, 1, status: 0x0b)
            fixture.setsWantedMonitor()
            fixture.report(1)
            fixture.wait(.seconds(1))
        }
        #expect(scanner.adapters.map(\.isListening) == [true, false])
        #expect(fixture.decisions.isEmpty)
    }

    @Test func `A beacon stays inside while its adapter's monitor is gone for a moment`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.started()
        for second in 1...1200 {
            fixture.report(0)
            if second % 100 == 0 {
                fixture.kernel.says(0x002c, 0, [1, 0])
                // Through another program's scan.
                fixture.report(0)
                fixture.wait(.milliseconds(50))
                fixture.kernel.grants(0)
            }
            fixture.wait(.seconds(1))
        }
        #expect(scanner.adapters.map(\.restarts) == [12])
        #expect(scanner.adapters.map(\.reports) == [1200])
        #expect(fixture.decisions.count == 1, "it enters, once")
    }

    @Test func `An adapter that was unplugged before does not hide that every other one is refused`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.started()
        fixture.kernel.says(0x0005, 0, [])
        fixture.kernel.informs(1, isPowered: true)
        // The first refusal means the patterns for telemetry.
        fixture.kernel.answers(.addPatternsMonitor, 1, status: 0x0b)
        for refusal in 1...5 {
            #expect(scanner.failure == nil, "refusal \(refusal)")
            fixture.kernel.answers(.addPatternsMonitor, 1, status: 0x0b)
            fixture.wait(.seconds(1))
        }
        #expect(scanner.failure?.kind == .unavailable)
    }

    @Test func `An adapter that is off for a moment does not give up mgmt for another one that is refused`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.started()
        fixture.kernel.informs(1, isPowered: true)
        fixture.kernel.answers(.addPatternsMonitor, 1, status: 0x0b)
        fixture.kernel.informs(0, isPowered: false)
        for _ in 1...6 {
            fixture.kernel.answers(.addPatternsMonitor, 1, status: 0x0b)
            fixture.wait(.seconds(1))
        }
        #expect(scanner.failure == nil)
    }

    @Test func `An adapter that stays off does not hide that every other one is refused`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.started()
        fixture.kernel.switches(0, isPowered: false)
        fixture.kernel.informs(1, isPowered: true)
        fixture.kernel.answers(.addPatternsMonitor, 1, status: 0x0b)
        for second in 0...30 {
            fixture.kernel.answers(.addPatternsMonitor, 1, status: 0x0b)
            #expect(scanner.failure == nil, "after \(second) s")
            fixture.wait(.seconds(1))
        }
        fixture.kernel.answers(.addPatternsMonitor, 1, status: 0x0b)
        #expect(scanner.failure?.kind == .unavailable)
    }

    @Test func `After a sleep an adapter that wakes up late still counts against giving up mgmt`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.started()
        fixture.kernel.informs(1, isPowered: true)
        for _ in 1...6 {
            fixture.kernel.answers(.addPatternsMonitor, 1, status: 0x0b)
            fixture.wait(.seconds(1))
        }
        // Controller Suspend and Controller Resume.
        for index: UInt16 in [0, 1] { fixture.kernel.says(0x002d, index, [0]) }
        fixture.wait(.seconds(3600))
        fixture.kernel.says(0x002e, 1, [0, 0, 0, 0, 0, 0, 0, 0])
        for _ in 1...4 {
            fixture.kernel.answers(.addPatternsMonitor, 1, status: 0x0b)
            fixture.wait(.seconds(1))
        }
        fixture.kernel.says(0x002e, 0, [0, 0, 0, 0, 0, 0, 0, 0])
        fixture.kernel.grants(0)
        fixture.kernel.answers(.addPatternsMonitor, 1, status: 0x0b)
        #expect(scanner.failure == nil)
        #expect(scanner.adapters.map(\.isListening) == [true, false])
    }

    @Test func `An adapter that is unplugged is deaf, and listens when it is back`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.started()
        fixture.kernel.says(0x0005, 0, [])
        #expect(fixture.drainEvents() == ["0 is deaf"])
        fixture.kernel.says(0x0004, 0, [])
        fixture.kernel.informs(0, isPowered: true)
        #expect(!fixture.kernel.sent().contains("removeMonitor 0"), "the monitor went with the adapter")
        fixture.kernel.grants(0)
        #expect(fixture.drainEvents() == ["0 listens"])
        #expect(scanner.adapters.map(\.restarts) == [1])
    }

    @Test func `After a power cycle the monitor that the kernel kept is kept, too, if the kernel scans for it`() throws
    {
        let fixture = ScannerFixture()
        let scanner = try fixture.started()
        fixture.kernel.switches(0, isPowered: false)
        fixture.kernel.switches(0, isPowered: true)
        #expect(scanner.adapters.map(\.isListening) == [false])
        fixture.kernel.scans(0)
        #expect(fixture.drainEvents() == ["0 is deaf", "0 listens"])
        fixture.wait(.seconds(10))
        #expect(fixture.kernel.sent().isEmpty)
    }

    @Test(arguments: [true, false])
    func `After a power cycle the monitor is replaced if no scan for it is seen`(isObserved: Bool) throws {
        let fixture = ScannerFixture()
        if !isObserved { fixture.kernel.capabilities = [.netAdmin] }
        let scanner = try fixture.started()
        fixture.kernel.switches(0, isPowered: false)
        fixture.kernel.switches(0, isPowered: true)
        if isObserved { fixture.wait(.seconds(1)) }
        #expect(scanner.adapters.map(\.isListening) == [false])
        #expect(
            fixture.kernel.sent() == [
                "removeMonitor 0", "setDefaultSystemConfiguration 0", "addPatternsMonitor 0",
            ])
    }

    @Test func `A refusal of the controller ends listening at once, and the scan is tried again until it accepts`()
        throws
    {
        let fixture = ScannerFixture()
        let scanner = try fixture.started()
        fixture.kernel.stopsScan(0)
        #expect(fixture.drainEvents(pauses: true) == ["0 pauses"])
        #expect(scanner.adapters.map(\.trouble) == [nil])
        fixture.kernel.scans(0, status: 0x0c)
        #expect(fixture.drainEvents() == ["0 is deaf"])
        #expect(scanner.adapters.map(\.trouble) == ["the controller refuses to scan: Command Disallowed (0x0c)"])
        fixture.wait(.seconds(1))
        #expect(fixture.kernel.sent().contains("addPatternsMonitor 0"))
        fixture.kernel.grants(0, handle: 2)
        #expect(fixture.drainEvents() == ["0 listens"])
        #expect(scanner.adapters.map(\.trouble) == [nil])
    }

    @Test func `A refusal by Command Status is one, too`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.started()
        fixture.kernel.stopsScan(0)
        fixture.kernel.scans(0, status: nil)
        fixture.kernel.observers[0]?.queue.append([0x04, 0x0f, 4, 0x0c, 1, 0x0c, 0x20])
        fixture.kernel.observers[0]?.deliver()
        #expect(fixture.drainEvents() == ["0 is deaf"])
        #expect(scanner.adapters.map(\.trouble) == ["the controller refuses to scan: Command Disallowed (0x0c)"])
    }

    @Test func `Of two adapters, the one whose controller refuses is deaf, and the other one goes on`() throws {
        let fixture = ScannerFixture()
        fixture.kernel.adapters = [0, 1]
        let scanner = try fixture.started(adapters: [0, 1])
        fixture.kernel.stopsScan(1)
        fixture.kernel.scans(1, status: 0x0c)
        #expect(fixture.drainEvents(pauses: true) == ["1 pauses", "1 is deaf"])
        fixture.report(0)
        fixture.report(1)
        #expect(fixture.drainEvents() == ["0 heard"])
        #expect(scanner.adapters.map { $0.trouble == nil } == [true, false])
        fixture.wait(.seconds(10))
        #expect(!fixture.kernel.sent().contains { $0.hasSuffix(" 0") || $0.contains("setPowered 0") })
    }

    @Test func `A discovery of another program pauses the scan for a moment, which is nothing to tell`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.started()
        fixture.report(0)
        fixture.kernel.stopsScan(0)
        #expect(scanner.adapters.map(\.isListening) == [false])
        #expect(scanner.adapters.map(\.isPausing) == [true])
        fixture.report(0)
        fixture.kernel.scans(0)
        #expect(fixture.drainEvents(pauses: true) == ["0 heard", "0 pauses", "0 heard", "0 goes on"])
        #expect(scanner.adapters.map(\.restarts) == [0])
        #expect(fixture.notices.isEmpty)
    }

    @Test func `A beacon stays inside however long the controller refuses, and leaves when it is gone afterwards`()
        throws
    {
        let fixture = ScannerFixture()
        fixture.kernel.controller = { _ in ScriptedHCISocket.complete(0x1009, [1, 2, 3, 4, 5, 6]) }
        let scanner = try fixture.started()
        for _ in 1...60 {
            fixture.report(0)
            fixture.wait(.seconds(1))
        }
        fixture.kernel.stopsScan(0)
        fixture.kernel.scans(0, status: 0x0c)
        for _ in 1...3600 {
            fixture.setsWantedMonitor()
            fixture.wait(.seconds(1))
        }
        #expect(fixture.decisions.count == 1, "it entered")
        fixture.kernel.switches(0, isPowered: true)
        fixture.kernel.scans(0)
        for _ in 1...120 {
            fixture.setsWantedMonitor()
            fixture.wait(.seconds(1))
        }
        #expect(fixture.decisions.count == 2)
        scanner.stop()
    }

    @Test func `The third refusal resets the controller, unless a connection uses it`() throws {
        for isConnected in [false, true] {
            let fixture = ScannerFixture()
            if isConnected { fixture.kernel.connected = [0] }
            let scanner = try fixture.started()
            fixture.kernel.stopsScan(0)
            for _ in 1...3 {
                fixture.kernel.scans(0, status: 0x0c)
                fixture.wait(.seconds(2))
                fixture.kernel.answers(.addPatternsMonitor, 0, [2, 0])
            }
            fixture.wait(.seconds(3))
            #expect(fixture.kernel.sent().contains("setPowered 0=0") == !isConnected)
            #expect(scanner.adapters.map(\.resets) == [isConnected ? 0 : 1])
            #expect(scanner.adapters.allSatisfy { $0.trouble?.contains("connection uses it") == isConnected })
        }
    }

    @Test func `Without the right to see commands the monitor is the claim, and that it is not checked is told once`()
        throws
    {
        let fixture = ScannerFixture()
        fixture.kernel.capabilities = [.netAdmin]
        let scanner = try fixture.make()
        try scanner.start()
        for _ in 1...3 {
            fixture.kernel.informs(0, isPowered: true)
            fixture.kernel.answers(.addPatternsMonitor, 0, [1, 0])
            #expect(fixture.drainEvents() == ["0 listens"])
            fixture.kernel.switches(0, isPowered: false)
            _ = fixture.drainEvents()
        }
        #expect(fixture.notices.filter { $0.contains("not checked: CAP_NET_RAW is missing") }.count == 1)
    }

    @Test func `During another program's discovery the reports are read from the raw socket, each once`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.started()
        #expect(fixture.kernel.observers[0]?.filter?.hasReports == false)
        fixture.kernel.says(0x0013, 0, [6, 1])
        #expect(fixture.kernel.observers[0]?.filter?.hasReports == true)
        // What the filter of the discovery lets through comes twice.
        fixture.kernel.observes(0)
        fixture.report(0)
        #expect(fixture.drainEvents() == ["0 heard"])
        fixture.kernel.observers[0]?.queue.append(ScriptedKernel.advertisingReport)
        fixture.kernel.says(0x0013, 0, [6, 0])
        #expect(fixture.drainEvents() == ["0 heard"], "it waited in the raw socket")
        #expect(fixture.kernel.observers[0]?.filter?.hasReports == false)
        fixture.report(0)
        fixture.kernel.observes(0)
        #expect(fixture.drainEvents() == ["0 heard"])
        #expect(scanner.adapters.map(\.reports) == [3])
    }

    // MARK: - Windows of active scan

    /// A scanner that offers windows, with as many monitors of others.
    private func offering(_ fixture: ScannerFixture, others: UInt8 = 0, isFiltering: Bool = false) throws -> MgmtScanner
    {
        let scanner = try fixture.started()
        #expect(scanner.adapters.map(\.activeScan) == [.unavailable])
        scanner.setOffersActiveScan(true)
        #expect(fixture.kernel.sent() == ["readMonitorFeatures 0"])
        fixture.kernel.answers(
            .readMonitorFeatures, 0, ScannerFixture.features(monitors: 1 + others, isFiltering: isFiltering))
        return scanner
    }

    private let adapter = Receiver(index: 0)

    @Test func `A window is a discovery of the kernel, which is ended after 35 s`() throws {
        let fixture = ScannerFixture()
        let scanner = try offering(fixture)
        #expect(scanner.adapters.map(\.activeScan) == [.available])
        scanner.scanActively(true, by: adapter)
        fixture.kernel.beginsWindow()
        #expect(fixture.kernel.sent() == ["readMonitorFeatures 0", "startDiscovery 0"])
        #expect(scanner.adapters.map(\.activeScan) == [.running])
        #expect(scanner.adapters.map(\.isListening) == [true])
        fixture.wait(.milliseconds(34_900))
        #expect(!fixture.kernel.sent().contains { $0.contains("Discovery") })
        fixture.wait(.milliseconds(100))
        #expect(fixture.kernel.sent() == ["stopDiscovery 0"])
        fixture.kernel.endsWindow()
        #expect(scanner.adapters.map(\.activeScan) == [.available])
        #expect(fixture.kernel.sent().isEmpty)
        fixture.wait(.seconds(60))
        #expect(!fixture.kernel.sent().contains { $0.contains("Discovery") }, "it was asked for once")
    }

    @Test func `A service that ends stops the discovery of its window`() throws {
        let fixture = ScannerFixture()
        let scanner = try offering(fixture)
        scanner.scanActively(true, by: adapter)
        fixture.kernel.beginsWindow()
        _ = fixture.kernel.sent()
        scanner.stop()
        #expect(fixture.kernel.sent().contains("stopDiscovery 0"))
    }

    @Test func `No window is offered where another program has a monitor, and that is told once`() throws {
        let fixture = ScannerFixture()
        let scanner = try offering(fixture, others: 1)
        #expect(scanner.adapters.map(\.activeScan) == [.unavailable])
        scanner.scanActively(true, by: adapter)
        fixture.kernel.answers(.readMonitorFeatures, 0, ScannerFixture.features(monitors: 2))
        #expect(fixture.kernel.sent() == ["readMonitorFeatures 0"])
        #expect(fixture.notices.filter { $0.contains("no windows of active scan") }.count == 1)
    }

    @Test func `Monitors that another program adds or removes are counted at once`() throws {
        let fixture = ScannerFixture()
        let scanner = try offering(fixture)
        #expect(scanner.adapters.map(\.activeScan) == [.available])
        fixture.kernel.says(0x002b, 0, [7, 0])
        #expect(fixture.kernel.sent() == ["readMonitorFeatures 0"])
        fixture.kernel.answers(.readMonitorFeatures, 0, ScannerFixture.features(monitors: 2))
        #expect(scanner.adapters.map(\.activeScan) == [.unavailable])
        fixture.kernel.says(0x002c, 0, [7, 0])
        #expect(fixture.kernel.sent() == ["readMonitorFeatures 0"])
        fixture.kernel.answers(.readMonitorFeatures, 0, ScannerFixture.features(monitors: 1))
        #expect(scanner.adapters.map(\.activeScan) == [.available])
        scanner.setOffersActiveScan(false)
        fixture.kernel.says(0x002b, 0, [7, 0])
        #expect(fixture.kernel.sent().isEmpty, "nobody wants to know")
    }

    @Test func `While the own monitor is being set, those of others are counted afterwards`() throws {
        let fixture = ScannerFixture()
        let scanner = try offering(fixture)
        scanner.setPatterns([BeaconPacketPattern(type: 0xff, offset: 2, start: [0xbe, 0xac])])
        fixture.kernel.says(0x002b, 0, [7, 0])
        #expect(!fixture.kernel.sent().contains("readMonitorFeatures 0"))
        fixture.kernel.grants(0, handle: 2)
        #expect(fixture.kernel.sent() == ["readMonitorFeatures 0"])
        fixture.kernel.answers(.readMonitorFeatures, 0, ScannerFixture.features(monitors: 2))
        #expect(scanner.adapters.map(\.activeScan) == [.unavailable])
    }

    @Test func `Where another program discovers all the time, no window is offered, and that is told once`() throws {
        let fixture = ScannerFixture()
        let scanner = try offering(fixture)
        for _ in 0..<2 {
            for _ in 0..<4 {
                fixture.kernel.says(0x0013, 0, [6, 1])
                fixture.wait(.seconds(10))
                #expect(scanner.adapters.map(\.activeScan) == [.available])
                fixture.kernel.says(0x0013, 0, [6, 0])
                fixture.wait(.seconds(5))
            }
            #expect(scanner.adapters.map(\.activeScan) == [.unavailable])
            fixture.wait(.seconds(24))
            #expect(scanner.adapters.map(\.activeScan) == [.unavailable])
            fixture.wait(.seconds(1))
            #expect(scanner.adapters.map(\.activeScan) == [.available])
        }
        #expect(fixture.notices.filter { $0.contains("discovers devices on this adapter all the time") }.count == 1)
    }

    @Test func `Without the right to read the raw socket, or while none is offered, no window is begun`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.started()
        scanner.scanActively(true, by: adapter)
        #expect(fixture.kernel.sent().isEmpty)
        let blind = ScannerFixture()
        blind.kernel.capabilities = [.netAdmin]
        let other = try blind.make()
        try other.start()
        blind.kernel.informs(0, isPowered: true)
        blind.kernel.answers(.addPatternsMonitor, 0, [1, 0])
        other.setOffersActiveScan(true)
        _ = blind.kernel.sent()
        other.scanActively(true, by: adapter)
        #expect(blind.kernel.sent().isEmpty && other.adapters.map(\.activeScan) == [.unavailable])
    }

    @Test func `What devices answer during a window is not for presence, and what they send is`() throws {
        let fixture = ScannerFixture()
        let scanner = try offering(fixture)
        var response = ScriptedKernel.advertisingReport
        response[5] = 4
        scanner.scanActively(true, by: adapter)
        fixture.kernel.beginsWindow()
        fixture.kernel.observers[0]?.queue.append(response)
        fixture.kernel.observes(0)
        #expect(fixture.drainEvents() == ["0 heard"])
        fixture.kernel.observers[0]?.queue.append(response)
        scanner.scanActively(false, by: adapter)
        fixture.kernel.endsWindow()
        #expect(fixture.drainEvents().isEmpty, "it waited in the raw socket")
        // The discovery of another program is not ours to judge.
        fixture.kernel.says(0x0013, 0, [6, 1])
        fixture.kernel.observers[0]?.queue.append(response)
        fixture.kernel.observes(0)
        #expect(fixture.drainEvents() == ["0 heard", "0 heard"])
    }

    @Test
    func `Of a controller that matches patterns, presence gets the same while every packet is wanted, and in windows`()
        throws
    {
        let fixture = ScannerFixture()
        let scanner = try offering(fixture, isFiltering: true)
        scanner.setWantsAll(true)
        fixture.kernel.grants(0, handle: 2)
        fixture.report(0)
        #expect(fixture.drainEvents() == ["0 heard"], "an iBeacon")
        var other = Array(ManagementEventTests.found.dropFirst(6))
        // Its data begins with flags, and goes on with that of the manufacturer.
        let prefix = try #require(other.firstRange(of: [0xff, 0x4c, 0x00, 0x02, 0x15]))
        other[prefix.lowerBound + 3] = 0x10
        fixture.kernel.says(0x002f, 0, other)
        #expect(fixture.drainEvents().isEmpty)
        scanner.scanActively(true, by: adapter)
        fixture.kernel.beginsWindow(isFiltering: true)
        fixture.kernel.observes(0)
        #expect(fixture.drainEvents().isEmpty)
        scanner.scanActively(false, by: adapter)
        fixture.kernel.endsWindow()
        scanner.setWantsAll(false)
        fixture.kernel.grants(0, handle: 3)
        fixture.kernel.says(0x002f, 0, other)
        #expect(fixture.drainEvents() == ["0 heard"], "what the controller delivers then is its own choice")
    }

    @Test func `Windows over a day cost no leave that is false, and a beacon that goes in one leaves`()
        throws
    {
        let fixture = ScannerFixture()
        fixture.kernel.controller = { _ in ScriptedHCISocket.complete(0x1009, [1, 2, 3, 4, 5, 6]) }
        let scanner = try offering(fixture)
        var isDiscovering = false
        func fiveSeconds(_ hasBeacon: Bool) {
            if hasBeacon, isDiscovering { fixture.kernel.observes(0) } else if hasBeacon { fixture.report(0) }
            fixture.wait(.seconds(5))
        }
        // A window each two minutes.
        for minute in 0..<720 {
            if minute % 2 == 0 {
                scanner.scanActively(true, by: adapter)
                for _ in 0..<3 {
                    fixture.kernel.beginsWindow()
                    isDiscovering = true
                    for _ in 0..<2 { fiveSeconds(true) }
                    // The kernel ends it, and scans for the monitor again.
                    fixture.kernel.stopsScan(0)
                    fixture.kernel.says(0x0013, 0, [6, 0])
                    fixture.kernel.scans(0)
                    isDiscovering = false
                }
                scanner.scanActively(false, by: adapter)
                fixture.kernel.answers(.readMonitorFeatures, 0, ScannerFixture.features(monitors: 1))
            }
            while fixture.kernel.host.now.duration(to: .zero.advanced(by: .seconds(120 * (minute / 2 + 1)))) > .zero {
                fiveSeconds(true)
            }
        }
        #expect(fixture.decisions.count == 1, "it entered")
        #expect(scanner.adapters.map(\.isListening) == [true])
        #expect(fixture.notices.isEmpty)
        scanner.scanActively(true, by: adapter)
        fixture.kernel.beginsWindow()
        for _ in 0..<120 { fiveSeconds(false) }
        #expect(fixture.decisions.count == 2, "it left")
    }

    @Test func `A report of a discovery that began before this program proves the scan`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.make()
        try scanner.start()
        fixture.kernel.informs(0, isPowered: true)
        // The kernel sends no scan command: a discovery runs.
        fixture.kernel.answers(.addPatternsMonitor, 0, [1, 0])
        fixture.wait(.seconds(1))
        #expect(fixture.drainEvents().isEmpty)
        fixture.kernel.observes(0)
        #expect(fixture.drainEvents() == ["0 listens", "0 heard"])
    }

    @Test func `Packets that were lost may have been commands, so the scan is not confirmed any longer`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.started()
        fixture.kernel.observers[0]?.drops = 1
        fixture.wait(.seconds(1))
        #expect(scanner.adapters.map(\.isListening) == [false])
        fixture.wait(.seconds(1))
        #expect(fixture.kernel.sent().contains("addPatternsMonitor 0"))
    }

    @Test
    func `A silent controller is asked after 20 s, and one that answers has its scan started afresh`()
        throws
    {
        let fixture = ScannerFixture()
        fixture.kernel.controller = { _ in ScriptedHCISocket.complete(0x1009, [1, 2, 3, 4, 5, 6]) }
        let scanner = try fixture.started()
        fixture.wait(.seconds(19))
        #expect(fixture.kernel.hci[0] == nil)
        fixture.wait(.seconds(6))
        let probe = try #require(fixture.kernel.hci[0])
        #expect(probe.commands.map(\.command) == [9], "Read BD_ADDR")
        #expect(fixture.kernel.sent().contains("addPatternsMonitor 0"))
        #expect(scanner.adapters.map(\.isListening) == [true])
    }

    @Test
    func `A controller that answers no question is reset, and absence does not count meanwhile`()
        throws
    {
        let fixture = ScannerFixture()
        let scanner = try fixture.started()
        fixture.wait(.seconds(35))
        #expect(fixture.drainEvents().first == "0 is deaf")
        #expect(fixture.kernel.sent().contains("setPowered 0=0"))
        #expect(scanner.adapters.map(\.isListening) == [false])
    }

    @Test func `Silence of all beacons does not count before it is known whether the controller is deaf`() throws {
        let fixture = ScannerFixture()
        fixture.kernel.controller = { _ in ScriptedHCISocket.complete(0x1009, [1, 2, 3, 4, 5, 6]) }
        let scanner = try fixture.started()
        fixture.hearsTwoBeacons()
        for _ in 0..<24 { fixture.wait(.milliseconds(100)) }
        #expect(fixture.drainEvents(pauses: true) == ["0 pauses"], "which nobody is told of")
        for _ in 0..<20 { fixture.wait(.milliseconds(100)) }
        #expect(fixture.drainEvents(pauses: true) == ["0 is deaf"])
        for _ in 0..<40 { fixture.wait(.milliseconds(100)) }
        #expect(fixture.decisions.isEmpty, "nobody leaves")
        #expect(scanner.adapters.map(\.resets) == [1])
    }

    @Test func `The silence of one beacon counts as soon as the controller has answered`() throws {
        let fixture = ScannerFixture()
        fixture.kernel.controller = { _ in ScriptedHCISocket.complete(0x1009, [1, 2, 3, 4, 5, 6]) }
        let scanner = try fixture.started()
        for _ in 0..<240 {
            fixture.report(0)
            fixture.wait(.milliseconds(250))
        }
        fixture.decisions = []
        _ = fixture.drainEvents()
        for _ in 0..<34 { fixture.wait(.milliseconds(100)) }
        #expect(fixture.drainEvents(pauses: true).isEmpty)
        #expect(fixture.kernel.hci[0]?.commands.count == 1, "it was asked")
        #expect(!fixture.decisions.isEmpty, "and the beacon has left")
        #expect(scanner.adapters.map(\.isListening) == [true])
    }

    @Test func `The silence of one beacon does not count while the controller does not answer`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.started()
        for _ in 0..<240 {
            fixture.report(0)
            fixture.wait(.milliseconds(250))
        }
        fixture.decisions = []
        for _ in 0..<40 { fixture.wait(.milliseconds(100)) }
        #expect(fixture.drainEvents().last == "0 is deaf")
        #expect(fixture.decisions.isEmpty)
        #expect(scanner.adapters.map(\.isListening) == [false])
    }

    @Test func `A controller that hangs does not keep the other adapter from listening`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.started(adapters: [0, 1])
        for _ in 0..<35 {
            fixture.report(1)
            fixture.wait(.seconds(1))
        }
        #expect(scanner.adapters.map(\.isListening) == [false, true])
    }

    @Test func `Lost messages are entered at the adapter that says most`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.started(adapters: [0, 1])
        fixture.report(1)
        fixture.kernel.management.drops = 4
        fixture.wait(.seconds(1))
        #expect(scanner.adapters.map(\.lost) == [0, 4])
    }

    @Test func `Stopping removes the monitor and reports that no receiver listens`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.started()
        scanner.stop()
        #expect(fixture.kernel.sent() == ["removeMonitor 0"])
        #expect(fixture.drainEvents() == ["0 is deaf"])
        fixture.wait(.seconds(60))
        #expect(fixture.kernel.sent().isEmpty)
    }

    @Test func `A management socket that fails is a failure of the scanner`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.started()
        fixture.kernel.management.failure = SystemError("recvmmsg", code: 5)
        fixture.kernel.host.becomeReadable(fixture.kernel.management.descriptor)
        #expect(scanner.failure?.kind == .unavailable)
        #expect(scanner.hasDied)
        #expect(fixture.drainEvents() == ["0 is deaf"], "no report comes any more")
        #expect(scanner.problem?.text.hasPrefix("the management socket failed") == true)
    }

    @Test func `A raw socket that does not open is tried again, and the reason is told once`() throws {
        let fixture = ScannerFixture()
        fixture.kernel.socketRefusal = SystemError("hci_open_dev", code: 24)
        let scanner = try fixture.started()
        fixture.wait(.seconds(12))
        let reason = "is not checked: its raw HCI socket does not open: hci_open_dev: Too many open files"
        #expect(fixture.notices.filter { $0.contains(reason) }.count == 1)
        fixture.kernel.socketRefusal = nil
        #expect(fixture.kernel.observers[0] == nil)
        fixture.wait(.seconds(6))
        #expect(fixture.kernel.observers[0] != nil)
        #expect(fixture.notices.last?.contains("is checked now") == true)
        fixture.kernel.scans(0)
        #expect(scanner.adapters.map(\.isListening) == [true])
    }

    @Test func `A raw socket that fails although the adapter stays is opened again`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.started()
        let first = try #require(fixture.kernel.observers[0])
        first.failure = SystemError("recvmmsg", code: 12)
        first.deliver()
        fixture.wait(.seconds(6))
        #expect(fixture.kernel.observers[0] !== first)
        fixture.kernel.scans(0)
        fixture.wait(.seconds(1))
        #expect(scanner.adapters.map(\.isListening) == [true])
    }

    // MARK: A kernel that does not answer

    @Test func `A request for a monitor that is not answered is named after half a minute, and repeated`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.make()
        try scanner.start()
        fixture.kernel.informs(0, isPowered: true)
        _ = fixture.kernel.sent()
        fixture.wait(.seconds(29))
        #expect(fixture.kernel.sent() == [])
        fixture.wait(.seconds(1))
        let reason = "no advertisement monitor: the kernel does not answer addPatternsMonitor"
        #expect(scanner.adapters.map(\.trouble) == [reason])
        for _ in 0..<2 {
            fixture.wait(.seconds(1))
            #expect(fixture.kernel.sent().last == "addPatternsMonitor 0")
            fixture.wait(.seconds(30))
        }
        #expect(fixture.notices.filter { $0.contains(reason) }.count == 1)
        #expect(fixture.drainEvents() == ["0 is deaf"])
        fixture.wait(.seconds(1))
        fixture.kernel.grants(0)
        #expect(fixture.drainEvents() == ["0 listens"])
        #expect(scanner.adapters.map(\.trouble) == [nil])
    }

    @Test func `Where no request for a monitor is answered, this way does not work`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.make()
        try scanner.start()
        fixture.kernel.informs(0, isPowered: true)
        fixture.wait(.seconds(5 * 31 - 2))
        #expect(scanner.failure == nil)
        fixture.wait(.seconds(2))
        #expect(scanner.failure?.description.contains("the kernel does not answer addPatternsMonitor") == true)
    }

    @Test func `The question for the number of monitors that is not answered is named, too`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.make()
        try scanner.start()
        fixture.kernel.informs(0, isPowered: true)
        for _ in 0..<2 { fixture.kernel.answers(.addPatternsMonitor, 0, status: ManagementStatus.noResources) }
        #expect(fixture.kernel.sent().last == "readMonitorFeatures 0")
        fixture.wait(.seconds(30))
        let reason = "no advertisement monitor: the kernel does not answer readMonitorFeatures"
        #expect(scanner.adapters.map(\.trouble) == [reason])
        fixture.wait(.seconds(1))
        #expect(fixture.kernel.sent().last == "addPatternsMonitor 0")
    }

    @Test(arguments: [false, true])
    func `A monitor that the kernel sets late is taken, and there is never more than one`(isAskedAgain: Bool) throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.make()
        try scanner.start()
        fixture.kernel.informs(0, isPowered: true)
        fixture.wait(.seconds(isAskedAgain ? 31 : 30))
        _ = fixture.kernel.sent()
        fixture.kernel.grants(0, handle: 7)
        #expect(fixture.drainEvents() == ["0 is deaf", "0 listens"])
        fixture.wait(.seconds(2))
        #expect(fixture.kernel.sent() == [])
        if isAskedAgain {
            fixture.kernel.grants(0, handle: 8)
            #expect(fixture.kernel.sent() == ["removeMonitor 0"])
            #expect(fixture.drainEvents() == [])
        }
        scanner.stop()
        #expect(fixture.kernel.management.sent.map { $0[6] } == [isAskedAgain ? 8 : 7], "the newest")
    }

    @Test func `A kernel that stays busy is named after half a minute, and asked on`() throws {
        let fixture = ScannerFixture()
        let scanner = try fixture.make()
        try scanner.start()
        fixture.kernel.informs(0, isPowered: true)
        for _ in 0..<40 {
            fixture.kernel.answers(.addPatternsMonitor, 0, status: ManagementStatus.busy)
            fixture.wait(.seconds(1))
            #expect(fixture.kernel.sent().last == "addPatternsMonitor 0")
        }
        #expect(fixture.notices.filter { $0.contains("no advertisement monitor: Busy") }.count == 1)
        #expect(scanner.adapters.map(\.trouble) == ["no advertisement monitor: Busy"])
        #expect(scanner.failure == nil)
    }

    @Test func `A controller that cannot be asked is not taken for one that hangs, and the reason is said once`() throws
    {
        let fixture = ScannerFixture()
        let scanner = try fixture.started()
        fixture.hearsTwoBeacons()
        fixture.kernel.socketRefusal = SystemError("hci_open_dev", code: 24)
        // Both are silent at once.
        for _ in 0..<250 { fixture.wait(.milliseconds(100)) }
        let reason = "whether the controller works cannot be asked: hci_open_dev: Too many open files"
        #expect(fixture.notices.filter { $0.contains(reason) }.count == 1)
        #expect(!fixture.kernel.sent().contains { $0.hasPrefix("setPowered") })
        #expect(scanner.adapters.map(\.resets) == [0])
        #expect(scanner.adapters.map(\.isListening) == [false])
        #expect(scanner.adapters.map(\.trouble) == [reason])
        #expect(fixture.decisions.isEmpty, "silence does not count")
        fixture.report(0, beacon: 1)
        fixture.wait(.seconds(1))
        #expect(scanner.adapters.map(\.trouble) == [nil])
        #expect(scanner.adapters.map(\.isListening) == [true])
    }
}
