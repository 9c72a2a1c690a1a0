import Base
import HostSupport
import Scanning
import System
import Testing

@testable import KernelScanning

/// A monitor over a script, and what its owner learns.
private final class MonitorFixture: AdapterMonitorDelegate {
    let kernel = ScriptedKernel()
    let monitor: AdapterMonitor
    private(set) var events: [String] = []
    private(set) var notices: [String] = []
    private(set) var malformed: [UInt16] = []

    init(selection: AdapterSelection = .all) throws {
        monitor = try AdapterMonitor(host: kernel.host, kernel: kernel, selection: selection)
        monitor.delegate = self
        monitor.start()
    }

    func adapterReady(_ index: UInt16, at now: MonotonicInstant) { events.append("\(index) ready") }
    func adapterLost(_ index: UInt16, isGone: Bool, because reason: String, at now: MonotonicInstant) {
        events.append("\(index) lost: \(reason)")
    }
    func received(_ event: ManagementEvent, index: UInt16, at now: MonotonicInstant) {}
    func found(_ device: FoundDevice, data: Span<UInt8>, index: UInt16, at now: MonotonicInstant) {
        events.append("\(index) found")
    }
    func malformed(index: UInt16) { malformed.append(index) }
    func notice(_ notice: Notice) { notices.append(notice.text) }

    func drainEvents() -> [String] {
        defer { events = [] }
        return events
    }

    func wait(_ duration: Duration) { kernel.host.advance(by: duration) }
}

@Suite struct AdapterMonitorTests {
    @Test func `At the start it asks which adapters there are, and about each of them`() throws {
        let fixture = try MonitorFixture()
        #expect(fixture.kernel.sent() == ["readIndexList "])
        fixture.kernel.answers(.readIndexList, 0xffff, [2, 0, 0, 0, 1, 0])
        #expect(
            fixture.kernel.sent() == ["readControllerInformation 0", "readControllerInformation 1"])
    }

    @Test func `An adapter that is powered is ready, one that is off is switched on`() throws {
        let fixture = try MonitorFixture()
        fixture.kernel.informs(0, isPowered: true)
        fixture.kernel.informs(1, isPowered: false)
        #expect(fixture.drainEvents() == ["0 ready"])
        _ = fixture.kernel.sent()
        fixture.wait(.milliseconds(300))
        #expect(fixture.kernel.sent() == ["setPowered 1=1"])
        fixture.kernel.switches(1, isPowered: true)
        #expect(fixture.drainEvents() == ["1 ready"])
    }

    @Test func `Low Energy is switched on where it is off`() throws {
        let fixture = try MonitorFixture()
        _ = fixture.kernel.sent()
        fixture.kernel.informs(0, isPowered: true, isLowEnergyOn: false)
        #expect(fixture.kernel.sent() == ["setLowEnergy 0"])
        #expect(fixture.events.isEmpty)
    }

    @Test func `Why there is no adapter is said a second after that is known, once, until one is there`() throws {
        let fixture = try MonitorFixture()
        fixture.kernel.absence = ScanProblem("there is none", remedy: "plug one in")
        fixture.kernel.answers(.readIndexList, 0xffff, [0, 0])
        #expect(fixture.notices.isEmpty)
        fixture.wait(.seconds(1))
        #expect(fixture.notices == ["there is none; plug one in"])
        #expect(fixture.monitor.problem?.text == "there is none")
        fixture.kernel.answers(.readIndexList, 0xffff, [0, 0])
        fixture.wait(.seconds(60))
        #expect(fixture.notices.count == 1)
        fixture.kernel.informs(0, isPowered: true)
        #expect(fixture.monitor.problem == nil)
        fixture.wait(.seconds(60))
        #expect(fixture.notices.count == 1)
    }

    @Test func `An adapter that the kernel no longer offers is not unplugged, and the reason is looked for`() throws {
        let fixture = try MonitorFixture()
        fixture.kernel.informs(0, isPowered: true)
        _ = fixture.drainEvents()
        fixture.kernel.devices = [0]
        fixture.kernel.absence = ScanProblem("another program has it", remedy: "end that")
        fixture.kernel.says(0x0005, 0, [])
        #expect(fixture.drainEvents() == ["0 lost: the kernel no longer offers it"])
        fixture.wait(.seconds(1))
        #expect(fixture.notices == ["another program has it; end that"])
    }

    @Test func `While an adapter is there, no reason is looked for`() throws {
        let fixture = try MonitorFixture()
        fixture.kernel.absence = ScanProblem("there is none", remedy: "plug one in")
        fixture.kernel.answers(.readIndexList, 0xffff, [1, 0, 0, 0])
        fixture.kernel.informs(0, isPowered: true)
        fixture.wait(.seconds(5))
        #expect(fixture.notices.isEmpty)
    }

    @Test func `An adapter without Low Energy is not used`() throws {
        let fixture = try MonitorFixture()
        fixture.kernel.informs(0, isPowered: true, canLowEnergy: false)
        #expect(fixture.events.isEmpty)
        #expect(fixture.notices == ["hci0 cannot do Bluetooth Low Energy; not used"])
    }

    @Test func `An adapter that was switched off is lost, and switched on again a moment later`()
        throws
    {
        let fixture = try MonitorFixture()
        fixture.kernel.informs(0, isPowered: true)
        fixture.kernel.switches(0, isPowered: false)
        #expect(fixture.drainEvents() == ["0 ready", "0 lost: powered off"])
        _ = fixture.kernel.sent()
        fixture.wait(.milliseconds(299))
        #expect(fixture.kernel.sent().isEmpty)
        fixture.wait(.milliseconds(1))
        #expect(fixture.kernel.sent() == ["setPowered 0=1"])
    }

    @Test func `A bluetoothd that switches the adapter on first is left to it`() throws {
        let fixture = try MonitorFixture()
        fixture.kernel.informs(0, isPowered: true)
        fixture.kernel.switches(0, isPowered: false)
        fixture.kernel.switches(0, isPowered: true)
        _ = fixture.kernel.sent()
        fixture.wait(.seconds(60))
        #expect(fixture.kernel.sent().isEmpty)
    }

    @Test func `A block by rfkill is respected, told once, and asked about every two seconds`() throws {
        let fixture = try MonitorFixture()
        fixture.kernel.blocked = [0]
        fixture.kernel.informs(0, isPowered: false)
        fixture.wait(.milliseconds(300))
        for _ in 0..<3 {
            _ = fixture.kernel.sent()
            fixture.kernel.answers(.setPowered, 0, status: ManagementStatus.rfkilled)
            fixture.wait(.seconds(2))
            #expect(fixture.kernel.sent() == ["setPowered 0=1"])
        }
        #expect(fixture.notices == ["hci0 is blocked by rfkill; to unblock: rfkill unblock bluetooth"])
    }

    @Test func `A refusal for want of rights says which capability is missing`() throws {
        let fixture = try MonitorFixture()
        fixture.kernel.informs(0, isPowered: false)
        fixture.wait(.milliseconds(300))
        fixture.kernel.answers(.setPowered, 0, status: ManagementStatus.permissionDenied)
        #expect(fixture.notices.count == 1)
        #expect(fixture.notices.first?.contains("CAP_NET_ADMIN") == true)
    }

    @Test func `Tries to switch on grow rarer up to half a minute`() throws {
        let fixture = try MonitorFixture()
        fixture.kernel.informs(0, isPowered: false)
        fixture.wait(.milliseconds(300))
        _ = fixture.kernel.sent()
        var gaps: [Int] = []
        for _ in 0..<7 {
            fixture.kernel.answers(.setPowered, 0, status: 0x03)
            var seconds = 0
            while fixture.kernel.sent().isEmpty, seconds < 100 {
                fixture.wait(.seconds(1))
                seconds += 1
            }
            gaps.append(seconds)
        }
        #expect(gaps == [2, 4, 8, 16, 30, 30, 30])
    }

    @Test func `A reset goes past the kernel, then the adapter is switched off and on`() throws {
        let fixture = try MonitorFixture()
        fixture.kernel.informs(0, isPowered: true)
        _ = fixture.drainEvents()
        _ = fixture.kernel.sent()
        fixture.monitor.powerCycle(0)
        let probe = try #require(fixture.kernel.hci[0])
        // HCI Reset.
        #expect(probe.commands.map(\.group) == [3] && probe.commands.map(\.command) == [3])
        #expect(fixture.kernel.sent().isEmpty)
        probe.completes(0x0c03)
        #expect(fixture.kernel.sent() == ["setPowered 0=0"])
        fixture.kernel.switches(0, isPowered: false)
        fixture.wait(.zero)
        #expect(fixture.kernel.sent() == ["setPowered 0=1"])
        fixture.kernel.switches(0, isPowered: true)
        #expect(fixture.drainEvents() == ["0 lost: powered off", "0 ready"])
    }

    @Test func `A controller that does not even answer a reset is switched off after two seconds`()
        throws
    {
        let fixture = try MonitorFixture()
        fixture.kernel.informs(0, isPowered: true)
        _ = fixture.kernel.sent()
        fixture.monitor.powerCycle(0)
        fixture.wait(.milliseconds(1999))
        #expect(fixture.kernel.sent().isEmpty)
        fixture.wait(.milliseconds(1))
        #expect(fixture.kernel.sent() == ["setPowered 0=0"])
    }

    @Test func `An adapter that cannot be switched off for a reset is lost and switched on again`()
        throws
    {
        let fixture = try MonitorFixture()
        fixture.kernel.informs(0, isPowered: true)
        _ = fixture.drainEvents()
        fixture.monitor.powerCycle(0)
        fixture.wait(.seconds(2))
        _ = fixture.kernel.sent()
        fixture.kernel.answers(.setPowered, 0, status: 0x03)
        #expect(fixture.drainEvents() == ["0 lost: being reset"])
        fixture.wait(.seconds(1))
        #expect(fixture.kernel.sent() == ["setPowered 0=1"])
    }

    @Test func `An adapter that may not be switched off is ready again after the reset alone`() throws {
        let fixture = try MonitorFixture()
        fixture.kernel.informs(0, isPowered: true)
        _ = fixture.drainEvents()
        fixture.monitor.powerCycle(0)
        fixture.kernel.hci[0]?.completes(0x0c03)
        _ = fixture.kernel.sent()
        fixture.kernel.answers(.setPowered, 0, status: ManagementStatus.permissionDenied)
        #expect(fixture.kernel.sent() == ["readControllerInformation 0"])
        fixture.kernel.informs(0, isPowered: true)
        #expect(fixture.drainEvents() == ["0 lost: being reset", "0 ready"])
        fixture.wait(.seconds(60))
        #expect(fixture.kernel.sent().isEmpty)
        #expect(fixture.notices.isEmpty, "the adapter is not off")
    }

    @Test func `During the machine's sleep the adapter is lost, and ready again afterwards`() throws {
        let fixture = try MonitorFixture()
        fixture.kernel.informs(0, isPowered: true)
        fixture.kernel.says(0x002d, 0, [1])
        fixture.kernel.says(0x002e, 0, [1, 0, 0, 0, 0, 0, 0, 0])
        #expect(
            fixture.drainEvents() == ["0 ready", "0 lost: the machine is going to sleep", "0 ready"])
    }

    @Test
    func `Of two adapters, the one that is unplugged is lost, and found when it is plugged in again`()
        throws
    {
        let fixture = try MonitorFixture()
        fixture.kernel.informs(0, isPowered: true)
        fixture.kernel.informs(1, isPowered: true)
        _ = fixture.drainEvents()
        _ = fixture.kernel.sent()
        fixture.kernel.says(0x0005, 1, [])
        #expect(fixture.drainEvents() == ["1 lost: unplugged"])
        fixture.kernel.says(0x0004, 1, [])
        #expect(fixture.kernel.sent() == ["readControllerInformation 1"])
        fixture.kernel.informs(1, isPowered: true)
        #expect(fixture.drainEvents() == ["1 ready"])
    }

    @Test func `An adapter that was not chosen is left alone`() throws {
        let fixture = try MonitorFixture(selection: .index(1))
        _ = fixture.kernel.sent()
        fixture.kernel.informs(0, isPowered: false)
        fixture.wait(.seconds(60))
        #expect(fixture.kernel.sent().isEmpty)
        fixture.kernel.informs(1, isPowered: true)
        #expect(fixture.drainEvents() == ["1 ready"])
    }

    @Test func `After lost messages all adapters are looked at again, and one that has gone is lost`()
        throws
    {
        let fixture = try MonitorFixture()
        fixture.kernel.informs(0, isPowered: true)
        fixture.kernel.informs(1, isPowered: true)
        _ = fixture.drainEvents()
        _ = fixture.kernel.sent()
        #expect(fixture.monitor.lostMessages() == 0)
        fixture.kernel.management.drops = 3
        #expect(fixture.monitor.lostMessages() == 3)
        #expect(fixture.kernel.sent() == ["readIndexList "])
        fixture.kernel.answers(.readIndexList, 0xffff, [1, 0, 0, 0])
        #expect(fixture.drainEvents() == ["1 lost: unplugged"])
    }

    @Test func `A message that is cut anywhere is counted and changes nothing`() throws {
        let whole = ScriptedKernel.message(0x0006, 0, [1, 2, 0, 0])
        for length in 0..<whole.count {
            let fixture = try MonitorFixture()
            fixture.kernel.informs(0, isPowered: false)
            fixture.kernel.management.queue.append(Array(whole[..<length]))
            fixture.kernel.host.becomeReadable(fixture.kernel.management.descriptor)
            #expect(fixture.malformed.count == 1, "\(length) octets")
            #expect(fixture.events.isEmpty, "\(length) octets")
        }
    }

    @Test func `A report of an adapter that is not used is dropped`() throws {
        let fixture = try MonitorFixture()
        fixture.kernel.says(0x002f, 7, Array(ManagementEventTests.found.dropFirst(6)))
        #expect(fixture.events.isEmpty)
        fixture.kernel.informs(7, isPowered: true)
        fixture.kernel.says(0x002f, 7, Array(ManagementEventTests.found.dropFirst(6)))
        #expect(fixture.drainEvents() == ["7 ready", "7 found"])
    }

    @Test func `A management socket that fails is told to the owner`() throws {
        let fixture = try MonitorFixture()
        fixture.kernel.management.failure = SystemError("recvmmsg", code: 5)
        fixture.kernel.host.becomeReadable(fixture.kernel.management.descriptor)
        #expect(fixture.monitor.failure?.kind == .unavailable)
        #expect(fixture.notices.count == 1)
    }

    @Test func `When it has stopped, nothing is sent any more`() throws {
        let fixture = try MonitorFixture()
        fixture.kernel.informs(0, isPowered: false)
        fixture.monitor.stop()
        _ = fixture.kernel.sent()
        fixture.wait(.seconds(60))
        #expect(fixture.kernel.sent().isEmpty)
    }

    @Test func `A command to switch on that is not answered is named after half a minute, and repeated`() throws {
        let fixture = try MonitorFixture()
        fixture.kernel.informs(0, isPowered: false)
        fixture.wait(.milliseconds(300))
        #expect(fixture.kernel.sent().last == "setPowered 0=1")
        fixture.wait(.seconds(30))
        #expect(fixture.kernel.sent() == ["setPowered 0=1"])
        let text = "hci0 does not switch on: the kernel does not answer setPowered"
        #expect(fixture.notices == ["\(text); trying again"])
        #expect(fixture.monitor.problem?.text == text)
        fixture.kernel.switches(0, isPowered: true)
        #expect(fixture.monitor.problem == nil)
        #expect(fixture.drainEvents() == ["0 ready"])
        fixture.wait(.seconds(60))
        #expect(fixture.kernel.sent().isEmpty && fixture.notices.count == 1)
    }

    @Test func `A kernel that does not answer for an hour is named once`() throws {
        let fixture = try MonitorFixture()
        fixture.kernel.informs(0, isPowered: false)
        fixture.wait(.milliseconds(300))
        for _ in 1...120 { fixture.wait(.seconds(30)) }
        #expect(fixture.kernel.sent().count >= 100)
        #expect(fixture.notices.count == 1)
    }

    @Test func `Low Energy that the kernel does not switch on is named, and asked for again`() throws {
        let fixture = try MonitorFixture()
        fixture.kernel.informs(0, isPowered: true, isLowEnergyOn: false)
        #expect(fixture.kernel.sent().last == "setLowEnergy 0")
        fixture.kernel.answers(.setLowEnergy, 0, status: 0x0b)
        let text = "hci0 does not switch Low Energy on: Rejected"
        #expect(fixture.notices == ["\(text); trying again"])
        #expect(fixture.monitor.problem?.text == text)
        fixture.wait(.seconds(1))
        #expect(fixture.kernel.sent() == ["setPowered 0=1"])
        // The answer to that has the settings.
        fixture.kernel.answers(.setPowered, 0, [1, 0, 0, 0])
        #expect(fixture.kernel.sent() == ["setLowEnergy 0"])
        fixture.kernel.answers(.setLowEnergy, 0, [1, 2, 0, 0])
        #expect(fixture.drainEvents() == ["0 ready"])
        #expect(fixture.monitor.problem == nil)
    }

    @Test func `An adapter that is blocked is the problem while no other one is on`() throws {
        let fixture = try MonitorFixture()
        fixture.kernel.absence = ScanProblem("there is none", remedy: "plug one in")
        fixture.kernel.answers(.readIndexList, 0xffff, [0, 0])
        fixture.wait(.seconds(1))
        #expect(fixture.monitor.problem?.text == "there is none")
        fixture.kernel.blocked = [0]
        fixture.kernel.informs(0, isPowered: false)
        #expect(fixture.monitor.problem == nil, "it is not known yet")
        fixture.wait(.milliseconds(300))
        fixture.kernel.answers(.setPowered, 0, status: 0x03)
        #expect(fixture.monitor.problem?.text == "hci0 is blocked by rfkill")
        fixture.kernel.informs(1, isPowered: true)
        #expect(fixture.monitor.problem == nil)
        fixture.kernel.switches(1, isPowered: false)
        #expect(fixture.monitor.problem?.text == "hci0 is blocked by rfkill")
    }

    @Test func `A reset that cannot be sent is told, and the adapter is switched off at once`() throws {
        let fixture = try MonitorFixture()
        fixture.kernel.informs(0, isPowered: true)
        _ = fixture.kernel.sent()
        fixture.kernel.socketRefusal = SystemError("hci_open_dev", code: 24)
        fixture.monitor.powerCycle(0)
        fixture.wait(.zero)
        #expect(fixture.kernel.sent() == ["setPowered 0=0"])
        #expect(fixture.notices.count == 1 && fixture.notices[0].contains("hci_open_dev: Too many open files"))
    }
}
