import Base
import Beacon
import HostSupport
import Scanning
import System
import Testing

@testable import KernelScanning

/// Opcodes of the commands that a session gives.
private enum Opcode {
    static let readCommands: UInt16 = 0x1002
    static let parameters: UInt16 = 0x200b
    static let enable: UInt16 = 0x200c
    static let extendedParameters: UInt16 = 0x2041
    static let extendedEnable: UInt16 = 0x2042
}

/// A session over a script, and what its owner learns.
private final class SessionFixture: HCISessionDelegate {
    let kernel = ScriptedKernel()
    let session: HCISession
    private(set) var events: [String] = []
    private(set) var notices: [String] = []
    private(set) var heard = 0
    /// The opcodes of all programs' scan commands.
    private(set) var seen: [UInt16] = []

    init(listensOnly: Bool = false) {
        session = HCISession(
            0, duty: .full, listensOnly: listensOnly, host: kernel.host, kernel: kernel)
        session.delegate = self
    }

    var socket: ScriptedHCISocket? { kernel.hci[0] }
    /// The commands of the present socket: opcodes.
    var commands: [UInt16] {
        socket?.commands.map { UInt16($0.group) << 10 | UInt16($0.command) } ?? []
    }

    func sessionScans(_ session: HCISession, at now: MonotonicInstant) { events.append("scans") }
    func sessionPauses(_ session: HCISession, because reason: String, at now: MonotonicInstant) {
        events.append("pauses: \(reason)")
    }
    func sessionFails(_ session: HCISession, at now: MonotonicInstant) { events.append("fails") }
    func session(_ session: HCISession, cannotOpen reason: String, at now: MonotonicInstant) { notices.append(reason) }
    func sessionOpened(_ session: HCISession, at now: MonotonicInstant) {}
    func session(_ session: HCISession, saw command: ScanCommand, at now: MonotonicInstant) {
        seen.append(command.opcode)
    }
    func session(_ session: HCISession, answered opcode: UInt16, status: UInt8, at now: MonotonicInstant) {}
    func sessionHangs(_ session: HCISession) { events.append("hangs") }
    func session(
        _ session: HCISession, heard report: AdvertisingReport, data: Span<UInt8>,
        at now: MonotonicInstant
    ) {
        heard += 1
    }
    func session(_ session: HCISession, says priority: LogPriority, _ text: String) {
        notices.append(text)
    }

    func drainEvents() -> [String] {
        defer { events = [] }
        return events
    }

    /// The controller refuses the parameters for as long as a scan of another program is left alone.
    func meetsLeftoverScan(hasNoMonitors: Bool = true) {
        session.hasNoMonitors = hasNoMonitors
        session.start()
        answerCommands()
        for _ in 0..<4 {
            socket?.completes(Opcode.parameters, status: 0x0c)
            kernel.host.advance(by: .seconds(5))
        }
    }

    /// The controller answers everything until the scan is on.
    func startScan(isExtended: Bool = false) {
        session.start()
        answerCommands(isExtended: isExtended)
        socket?.completes(isExtended ? Opcode.extendedParameters : Opcode.parameters)
        socket?.completes(isExtended ? Opcode.extendedEnable : Opcode.enable)
    }

    /// Another program sends a command, and the controller answers it.
    func foreign(_ opcode: UInt16, _ parameters: [UInt8], status: UInt8 = 0) {
        socket?.queue.append([1] + ScriptedKernel.octets(opcode) + [UInt8(parameters.count)] + parameters)
        socket?.completes(opcode, status: status)
    }

    func answerCommands(isExtended: Bool = false) {
        var commands = [UInt8](repeating: 0, count: 64)
        if isExtended { commands[37] = 0x60 }
        socket?.completes(Opcode.readCommands, commands)
    }
}

@Suite struct HCISessionTests {
    @Test
    func
        `A scan starts with the controller's commands, the parameters, and on, each after the answer before`()
    {
        let fixture = SessionFixture()
        fixture.session.start()
        #expect(fixture.commands == [Opcode.readCommands])
        fixture.answerCommands()
        #expect(fixture.commands.last == Opcode.parameters)
        fixture.socket?.completes(Opcode.parameters)
        #expect(fixture.commands.last == Opcode.enable)
        #expect(fixture.socket?.commands.last?.parameters == [1, 0])
        #expect(fixture.events.isEmpty)
        fixture.socket?.completes(Opcode.enable)
        #expect(fixture.events == ["scans"])
    }

    @Test func `A controller that has the extended commands is asked with them`() {
        let fixture = SessionFixture()
        fixture.startScan(isExtended: true)
        #expect(
            fixture.commands == [Opcode.readCommands, Opcode.extendedParameters, Opcode.extendedEnable])
        #expect(fixture.events == ["scans"])
    }

    @Test func `Another duty switches the scan off, sets the parameters, and switches it on`() {
        for isExtended in [false, true] {
            let fixture = SessionFixture()
            fixture.startScan(isExtended: isExtended)
            let (parameters, enable) =
                isExtended
                ? (Opcode.extendedParameters, Opcode.extendedEnable) : (Opcode.parameters, Opcode.enable)
            _ = fixture.drainEvents()
            fixture.session.setDuty(ScanDuty(share: 0.25))
            #expect(fixture.commands.last == enable)
            #expect(fixture.socket?.commands.last?.parameters.first == 0)
            fixture.socket?.completes(enable)
            #expect(fixture.commands.last == parameters)
            // Interval and window in units of 0.625 ms.
            let sent = fixture.socket?.commands.last?.parameters.dropFirst(isExtended ? 4 : 1).prefix(4)
            #expect(sent.map(Array.init) == [96, 0, 24, 0])
            fixture.socket?.completes(parameters)
            fixture.socket?.completes(enable)
            #expect(fixture.drainEvents() == ["scans"])
        }
    }

    @Test func `A duty that changes while the scan is switched on is set afterwards`() {
        let fixture = SessionFixture()
        fixture.session.start()
        fixture.answerCommands()
        fixture.socket?.completes(Opcode.parameters)
        fixture.session.setDuty(ScanDuty(share: 0.5))
        #expect(fixture.commands.last == Opcode.enable)
        fixture.socket?.completes(Opcode.enable)
        #expect(fixture.drainEvents() == ["scans"])
        #expect(fixture.socket?.commands.last?.parameters == [0, 0], "off again")
        fixture.socket?.completes(Opcode.enable)
        #expect(fixture.socket?.commands.last?.parameters == [0, 96, 0, 48, 0, 0, 0])
    }

    @Test func `A missing adapter is looked for again each second`() {
        let fixture = SessionFixture()
        fixture.kernel.adapters = []
        fixture.session.start()
        fixture.kernel.host.advance(by: .seconds(3))
        #expect(fixture.socket == nil)
        #expect(fixture.notices.first == "its raw HCI socket does not open: hci_open_dev: No such device")
        fixture.kernel.adapters = [0]
        fixture.kernel.host.advance(by: .seconds(1))
        #expect(fixture.commands == [Opcode.readCommands])
    }

    @Test
    func
        `Two commands without an answer mean that the controller hangs, and the next reset waits longer`()
    {
        let fixture = SessionFixture()
        fixture.session.start()
        fixture.kernel.host.advance(by: .milliseconds(2499))
        #expect(fixture.events.isEmpty)
        fixture.kernel.host.advance(by: .milliseconds(1))
        #expect(fixture.drainEvents() == ["pauses: the controller does not answer"])
        // A second's pause, and another 2.5 s.
        fixture.kernel.host.advance(by: .milliseconds(3500))
        #expect(fixture.drainEvents() == ["pauses: the controller does not answer", "hangs"])
        // Its owner resets it and starts the session, and the controller is still silent.
        fixture.session.start()
        fixture.kernel.host.advance(by: .seconds(6))
        #expect(!fixture.drainEvents().contains("hangs"), "within ten seconds of the last reset")
        fixture.kernel.host.advance(by: .seconds(10))
        #expect(fixture.drainEvents().contains("hangs"))
    }

    @Test func `An answer to another command, or of another group, changes nothing`() {
        let fixture = SessionFixture()
        fixture.session.start()
        fixture.socket?.completes(Opcode.enable)
        fixture.socket?.completes(0x0c03)
        #expect(fixture.commands == [Opcode.readCommands])
        fixture.answerCommands()
        fixture.socket?.completes(Opcode.enable)
        #expect(fixture.commands.last == Opcode.parameters)
        #expect(fixture.events.isEmpty)
    }

    @Test func `An answer that is cut anywhere changes nothing`() {
        let whole = ScriptedHCISocket.complete(Opcode.readCommands, [UInt8](repeating: 0, count: 64))
        for length in 1..<7 {
            let fixture = SessionFixture()
            fixture.session.start()
            fixture.socket?.queue.append(Array(whole[..<length]))
            fixture.socket?.deliver()
            #expect(fixture.commands == [Opcode.readCommands], "\(length) octets")
        }
    }

    @Test func `A controller that refuses to scan is asked again when its owner says so, on the same socket`() {
        let fixture = SessionFixture()
        fixture.session.start()
        fixture.answerCommands()
        fixture.socket?.completes(Opcode.parameters, status: 0x12)
        #expect(fixture.drainEvents() == ["fails"])
        let (socket, count) = (fixture.socket, fixture.commands.count)
        fixture.kernel.host.advance(by: .seconds(60))
        #expect(fixture.commands.count == count)
        fixture.session.restart()
        #expect(fixture.commands.last == Opcode.parameters)
        fixture.socket?.completes(Opcode.parameters)
        fixture.socket?.completes(Opcode.enable)
        #expect(fixture.drainEvents() == ["scans"])
        #expect(fixture.socket === socket)
    }

    @Test func `A scan is taken over at most once in 15 s, and what is refused after that is no other program's scan`()
    {
        let fixture = SessionFixture()
        fixture.meetsLeftoverScan()
        fixture.socket?.completes(Opcode.parameters, status: 0x0c)
        fixture.socket?.completes(Opcode.enable, status: 0x0c)
        fixture.socket?.completes(Opcode.parameters, status: 0x0c)
        #expect(fixture.drainEvents() == ["pauses: another program scans on this adapter", "fails"])
        #expect(fixture.notices.filter { $0.contains("taking over") }.count == 1)
    }

    @Test func `A takeover that the controller does not answer is not tried again before 15 s`() {
        let fixture = SessionFixture()
        fixture.meetsLeftoverScan()
        fixture.socket?.completes(Opcode.parameters, status: 0x0c)
        #expect(fixture.commands.last == Opcode.enable)
        // The session gives up waiting, and begins again.
        fixture.kernel.host.advance(by: .seconds(4))
        fixture.answerCommands()
        fixture.socket?.completes(Opcode.parameters, status: 0x0c)
        #expect(fixture.notices.filter { $0.contains("taking over") }.count == 1)
    }

    @Test func `What the session sends is shown to its owner, too, who compares it with the answers`() {
        let fixture = SessionFixture()
        fixture.startScan()
        #expect(fixture.seen == [Opcode.parameters, Opcode.enable])
    }

    @Test func `Another program's scan is left alone, and looked at again every five seconds`() {
        let fixture = SessionFixture()
        fixture.session.start()
        fixture.answerCommands()
        fixture.socket?.completes(Opcode.parameters, status: 0x0c)
        #expect(fixture.events == ["pauses: another program scans on this adapter"])
        let count = fixture.commands.count
        fixture.kernel.host.advance(by: .seconds(5))
        #expect(fixture.commands.count == count + 1)
        #expect(fixture.commands.last == Opcode.parameters)
        fixture.socket?.completes(Opcode.parameters, status: 0x0c)
        #expect(fixture.events.count == 1, "it is told once")
    }

    @Test(arguments: [true, false])
    func `A scan that no program renews is taken over after 15 s, unless the kernel scans for a monitor`(
        hasNoMonitors: Bool
    ) {
        let fixture = SessionFixture()
        fixture.meetsLeftoverScan(hasNoMonitors: hasNoMonitors)
        #expect(!fixture.commands.contains(Opcode.enable), "it is 15 s old, not older")
        fixture.socket?.completes(Opcode.parameters, status: 0x0c)
        #expect(fixture.commands.contains(Opcode.enable) == hasNoMonitors)
        guard hasNoMonitors else { return }
        #expect(fixture.socket?.commands.last { $0.command == 0x0c }?.parameters == [0, 0])
    }

    @Test
    func `A command of another program during the scan ends it, and it begins again after a second`() {
        let fixture = SessionFixture()
        fixture.startScan()
        _ = fixture.drainEvents()
        fixture.foreign(Opcode.enable, [0, 0], status: 0x0c)
        #expect(fixture.drainEvents() == [], "it was refused")
        fixture.foreign(Opcode.enable, [0, 0])
        #expect(fixture.drainEvents() == ["pauses: another program changed the scan"])
        fixture.kernel.host.advance(by: .seconds(1))
        fixture.answerCommands()
        fixture.socket?.completes(Opcode.parameters)
        fixture.socket?.completes(Opcode.enable)
        #expect(fixture.drainEvents() == ["scans"])
    }

    @Test func `A restart switches the scan off and on`() {
        let fixture = SessionFixture()
        fixture.startScan()
        _ = fixture.drainEvents()
        fixture.session.restart()
        #expect(fixture.socket?.commands.last?.parameters == [0, 0])
        fixture.socket?.completes(Opcode.enable)
        fixture.socket?.completes(Opcode.parameters)
        fixture.socket?.completes(Opcode.enable)
        #expect(fixture.drainEvents() == ["scans"])
        #expect(fixture.socket?.commands.last?.parameters == [1, 0])
    }

    @Test func `A socket that fails is opened anew after a second`() {
        let fixture = SessionFixture()
        fixture.startScan()
        _ = fixture.drainEvents()
        let first = fixture.socket
        first?.failure = SystemError("recvmmsg", code: 100)
        first?.deliver()
        #expect(fixture.drainEvents().count == 1)
        fixture.kernel.host.advance(by: .seconds(1))
        #expect(fixture.socket !== first)
    }

    @Test func `Stopping switches the scan off, and afterwards nothing is sent any more`() {
        let fixture = SessionFixture()
        fixture.startScan()
        fixture.session.stop()
        #expect(fixture.socket?.commands.last?.parameters == [0, 0])
        let count = fixture.commands.count
        fixture.kernel.host.advance(by: .seconds(60))
        #expect(fixture.commands.count == count)
    }

    @Test func `One who only listens sends no command and hears at once`() {
        let fixture = SessionFixture(listensOnly: true)
        fixture.session.start()
        #expect(fixture.events == ["scans"])
        #expect(fixture.commands.isEmpty)
        // LE Advertising Report: one report of four octets of data.
        let report: [UInt8] = [0, 0, 1, 2, 3, 4, 5, 6, 3, 2, 1, 6, 0xff, 0xc0]
        fixture.socket?.queue.append([0x04, 0x3e, UInt8(report.count + 2), 0x02, 1] + report)
        fixture.socket?.deliver()
        #expect(fixture.heard == 1)
        fixture.session.stop()
        #expect(fixture.commands.isEmpty)
    }

    @Test func `Packets that the kernel dropped are counted once`() {
        let fixture = SessionFixture()
        fixture.startScan()
        fixture.socket?.drops = 5
        #expect(fixture.session.lostPackets() == 5)
        #expect(fixture.session.lostPackets() == 0)
    }
}
