import HostSupport
import Scanning
import System

@testable import KernelScanning

/// A kernel whose every word the test writes. It records what it is asked.
final class ScriptedKernel: KernelBluetooth {
    let host = ManualHost()
    let management = ScriptedSocket(descriptor: 3)
    /// The adapters that have a raw socket, and the newest socket of each.
    private(set) var hci: [UInt16: ScriptedHCISocket] = [:]
    var adapters: Set<UInt16> = [0]
    var blocked: Set<UInt16> = []
    var capabilities: Set<Capability> = [.netAdmin, .netRaw]
    /// The adapters that a connection uses.
    var connected: Set<UInt16> = []
    /// The newest socket of each adapter that reads the commands of all programs.
    private(set) var observers: [UInt16: ScriptedHCISocket] = [:]
    /// How each adapter's controller answers a command; nil: not at all.
    var controller: (ScriptedHCISocket.Command) -> [UInt8]? = { _ in nil }
    private var nextDescriptor: CInt = 10

    func openManagement() throws(ScannerError) -> any PacketSocket { management }

    /// Why no raw socket can be opened; nil: it can.
    var socketRefusal: SystemError?

    func openHCI(_ index: UInt16) throws(SystemError) -> any HCIPacketSocket {
        if let socketRefusal { throw socketRefusal }
        guard adapters.contains(index) else { throw SystemError("hci_open_dev", code: 19) }
        nextDescriptor += 1
        let socket = ScriptedHCISocket(index, descriptor: nextDescriptor, kernel: self)
        hci[index] = socket
        return socket
    }

    func isBlocked(_ index: UInt16) -> Bool { blocked.contains(index) }
    /// Why no adapter can be used.
    var absence: ScanProblem?
    /// The controllers that the kernel has, but may not offer.
    var devices: Set<UInt16> = []

    func hasDevice(_ index: UInt16) -> Bool { devices.contains(index) }
    func absence(_ selection: AdapterSelection) -> ScanProblem? { absence }
    func hasConnection(_ index: UInt16) -> Bool { connected.contains(index) }
    fileprivate func observes(_ socket: ScriptedHCISocket) {
        observers[socket.index] = socket
        if hci[socket.index] === socket { hci[socket.index] = nil }
    }

    /// The kernel, or a program, sends a command to the controller of an adapter, which answers it; nil: it does not.
    func sends(_ opcode: UInt16, _ parameters: [UInt8], to index: UInt16, status: UInt8? = 0) {
        guard let observer = observers[index] else { return }
        observer.queue.append([1] + Self.octets(opcode) + [UInt8(parameters.count)] + parameters)
        if let status { observer.queue.append(ScriptedHCISocket.complete(opcode, status: status)) }
        observer.deliver()
    }

    /// LE Advertising Report: one report of four octets of data.
    static let advertisingReport: [UInt8] = [
        0x04, 0x3e, 16, 0x02, 1, 0, 0, 1, 2, 3, 4, 5, 6, 3, 2, 1, 6, 0xff, 0xc0,
    ]

    /// The controller reports an advertiser.
    func observes(_ index: UInt16) {
        observers[index]?.queue.append(Self.advertisingReport)
        observers[index]?.deliver()
    }

    /// What the kernel does to scan for a monitor: it sets the parameters, and switches on.
    ///
    /// - Parameter window: Of every 60 ms, in units of 0.625 ms.
    func scans(_ index: UInt16, window: UInt8 = 96, status: UInt8? = 0) {
        sends(0x200b, [0, 96, 0, window, 0, 0, 0], to: index)
        sends(0x200c, [1, 0], to: index, status: status)
    }

    /// It switches the scan off.
    func stopsScan(_ index: UInt16, status: UInt8? = 0) { sends(0x200c, [0, 0], to: index, status: status) }

    /// The kernel sets the monitor, and begins to scan.
    func grants(_ index: UInt16, handle: UInt8 = 1, window: UInt8 = 96) {
        answers(.addPatternsMonitor, index, [handle, 0])
        scans(index, window: window)
    }

    /// Nobody else has a monitor, and the discovery that was asked for begins: the passive scan ends, and an active one begins.
    func beginsWindow(_ index: UInt16 = 0, isFiltering: Bool = false) {
        let features: UInt8 = isFiltering ? 1 : 0
        answers(.readMonitorFeatures, index, [features, 0, 0, 0, features, 0, 0, 0, 32, 0, 16, 1, 0])
        stopsScan(index)
        sends(0x200b, [1, 18, 0, 18, 0, 0, 0], to: index)
        sends(0x200c, [1, 0], to: index)
        answers(.startDiscovery, index, [6])
        says(0x0013, index, [6, 1])
    }

    /// The discovery that was stopped ends, and the kernel scans for the monitor again.
    func endsWindow(_ index: UInt16 = 0) {
        stopsScan(index)
        answers(.stopDiscovery, index, [6])
        says(0x0013, index, [6, 0])
        scans(index)
    }

    func holds(_ capability: Capability) -> Bool { capabilities.contains(capability) }

    /// A message of the management socket: header, then `parameters`.
    func says(_ code: UInt16, _ index: UInt16, _ parameters: [UInt8]) {
        management.queue.append(Self.message(code, index, parameters))
        host.becomeReadable(management.descriptor)
    }

    /// The answer to a command: Command Complete with status and result.
    func answers(
        _ opcode: ManagementCommand.Opcode, _ index: UInt16, status: UInt8 = 0, _ result: [UInt8] = []
    ) {
        says(0x0001, index, Self.octets(opcode.rawValue) + [status] + result)
    }

    /// Read Controller Information: powered or not; every controller of this kernel can do Low Energy.
    func informs(
        _ index: UInt16, isPowered: Bool, isLowEnergyOn: Bool = true, canLowEnergy: Bool = true
    ) {
        let current: [UInt8] = [isPowered ? 1 : 0, isLowEnergyOn ? 2 : 0, 0, 0]
        let address: [UInt8] = [UInt8(index), 0, 0, 0, 0, 0xaa]
        answers(
            .readControllerInformation, index,
            address + [9, 0, 0] + [1, canLowEnergy ? 2 : 0, 0, 0] + current + [0, 0, 0])
    }

    /// New Settings: powered or not, Low Energy on.
    func switches(_ index: UInt16, isPowered: Bool) {
        says(0x0006, index, [isPowered ? 1 : 0, 2, 0, 0])
    }

    /// What was sent on the management socket since it was asked last, in words: `setPowered 0`.
    func sent() -> [String] {
        defer { management.sent = [] }
        return management.sent.map { bytes in
            let opcode = UInt16(bytes[0]) | UInt16(bytes[1]) << 8
            let index = UInt16(bytes[2]) | UInt16(bytes[3]) << 8
            let name = ManagementCommand.Opcode(rawValue: opcode).map { "\($0)" } ?? "\(opcode)"
            let isSwitch = opcode == ManagementCommand.Opcode.setPowered.rawValue
            return
                "\(name) \(index == ManagementCommand.noIndex ? "" : "\(index)")\(isSwitch ? "=\(bytes[6])" : "")"
        }
    }

    static func octets(_ number: UInt16) -> [UInt8] { [UInt8(number & 0xff), UInt8(number >> 8)] }

    static func message(_ code: UInt16, _ index: UInt16, _ parameters: [UInt8]) -> [UInt8] {
        octets(code) + octets(index) + octets(UInt16(parameters.count)) + parameters
    }
}

/// The packets of a socket without a kernel.
class ScriptedPackets {
    let descriptor: CInt
    var drops: UInt32 = 0
    var queue: [[UInt8]] = []
    /// What the next `receive` ends with.
    var failure: SystemError?

    init(descriptor: CInt) { self.descriptor = descriptor }

    func receive(batches: Int, _ body: (Span<UInt8>) -> Bool) -> SystemError? {
        while !queue.isEmpty {
            let packet = queue.removeFirst()
            guard body(packet.span) else { return nil }
        }
        defer { failure = nil }
        return failure
    }
}

/// A management socket without a kernel.
final class ScriptedSocket: ScriptedPackets, PacketSocket {
    var sent: [[UInt8]] = []
    /// What a command is answered with before `send` returns.
    var answer: ([UInt8]) -> [UInt8]? = { _ in nil }

    func set(_ filter: ManagementFilter) {}

    func send(_ bytes: [UInt8]) throws(SystemError) {
        sent.append(bytes)
        if let answer = answer(bytes) { queue.append(answer) }
    }
}

/// A raw HCI socket without a controller.
final class ScriptedHCISocket: ScriptedPackets, HCIPacketSocket {
    struct Command: Hashable {
        let index: UInt16
        let group: Int32
        let command: Int32
        let parameters: [UInt8]
    }

    let index: UInt16
    private unowned let kernel: ScriptedKernel
    var commands: [Command] = []

    init(_ index: UInt16, descriptor: CInt, kernel: ScriptedKernel) {
        self.index = index
        self.kernel = kernel
        super.init(descriptor: descriptor)
    }

    func listen(to events: [Int32]) throws(SystemError) {}
    /// What is let through.
    private(set) var filter: HCIFilter?

    func listen(_ filter: HCIFilter) throws(SystemError) {
        let isObserver =
            !filter.opcodes.isEmpty && !filter.opcodes.contains(ScanFamily.readLocalSupportedCommands)
        if self.filter == nil, isObserver { kernel.observes(self) }
        self.filter = filter
    }

    func command(group: Int32, command: Int32, parameters: [UInt8]) throws(SystemError) {
        let command = Command(index: index, group: group, command: command, parameters: parameters)
        commands.append(command)
        // As with a controller, the answer comes after the call has returned.
        if let answer = kernel.controller(command) {
            queue.append(answer)
            _ = kernel.host.at(kernel.host.now) { [weak self] in self?.deliver() }
        }
    }

    /// Lets the owner read what waits.
    func deliver() { kernel.host.becomeReadable(descriptor) }

    /// Command Complete for an opcode.
    func completes(_ opcode: UInt16, status: UInt8 = 0, _ result: [UInt8] = []) {
        queue.append(Self.complete(opcode, status: status, result))
        deliver()
    }

    static func complete(_ opcode: UInt16, status: UInt8 = 0, _ result: [UInt8] = []) -> [UInt8] {
        [0x04, 0x0e, UInt8(result.count + 4), 1] + ScriptedKernel.octets(opcode) + [status] + result
    }
}
