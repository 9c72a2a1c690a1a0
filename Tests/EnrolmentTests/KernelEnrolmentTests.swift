import Base
import Beacon
import DBus
import DBusSupport
import HostSupport
import Identities
import KernelScanning
import Scanning
import System
import Testing

@testable import Enrolment

private final class KernelFixture {
    /// The key below resolves this address; both were seen in a pairing of two kernels.
    static let address = DeviceAddress(value: 0x6144_1288_d423, isRandom: true)
    static let identity = DeviceAddress(value: 0x00aa_0100_0001, isRandom: false)
    static let path = "/kernel/hci0/dev_61_44_12_88_D4_23"
    static let identityPath = "/kernel/hci0/dev_00_AA_01_00_00_01"

    let host = ManualHost()
    let kernel = FakeKernel()
    let bus = ScriptedBus()
    let files = Files()
    var isIncoming: Bool? = true
    private(set) var events: [EnrolmentEvent] = []
    private(set) var enrolment: KernelEnrolment?

    /// Until it is on the air, unless the kernel refuses something.
    func start(_ profile: AccessoryProfile = .heartRateSensor, _ selection: AdapterSelection = .all) {
        let enrolment = KernelEnrolment(
            EnrolmentAppearance(name: "gateway", profile: profile, selection: selection), host: host, channel: kernel,
            bus: bus, storage: files, isIncoming: { [unowned self] _, _ in isIncoming },
            onEvent: { [unowned self] in events.append($0) })
        self.enrolment = enrolment
        enrolment.start()
        kernel.answer()
    }

    func interrupt() {
        enrolment?.interrupt()
        kernel.answer()
    }

    static func name(_ device: DeviceAddress) -> [UInt8] {
        ManagementCommand(.disconnect, 0, of: device).parameters
    }

    func connects(_ device: DeviceAddress = address) { kernel.says(0x0b, Self.name(device) + [0, 0, 0, 0, 0, 0]) }
    func disconnects(_ device: DeviceAddress = address) { kernel.says(0x0c, Self.name(device) + [2]) }
    func asks(_ device: DeviceAddress = address) { kernel.says(0x0f, Self.name(device) + [1, 0, 0, 0, 0]) }

    /// The phone has paired: its identity with the key, then the key of the connection.
    func pairs(_ key: [UInt8] = Array(0..<16)) {
        kernel.bonds = [Self.identity]
        kernel.says(0x18, [1] + Self.name(Self.address).prefix(6) + Self.name(Self.identity) + key)
        kernel.says(0x0a, [1] + Self.name(Self.identity) + [UInt8](repeating: 0, count: 29))
    }

    /// A device with a fixed address has paired.
    func pairs(fixed device: DeviceAddress) {
        kernel.bonds = [device]
        kernel.says(0x0a, [1] + Self.name(device) + [UInt8](repeating: 0, count: 29))
    }

    func bluetoothdStarts() {
        bus.signal("/", "org.freedesktop.DBus", "NameOwnerChanged") { writer in
            for word in ["org.bluez", "", ":1.7"] { writer.string(word) }
        }
        kernel.answer()
    }

    var progress: [EnrolmentProgress] {
        events.compactMap { if case .progress(let progress) = $0 { progress } else { nil } }
    }

    var end: EnrolmentOutcome? {
        guard case .ended(let outcome, _) = events.last else { return nil }
        return outcome
    }

    var left: [String] {
        guard case .ended(_, let left) = events.last else { return [] }
        return left
    }

    var reason: String {
        guard case .failed(let reason)? = end else { return "" }
        return reason
    }
}

/// An enrolment as the kernel sees it, where bluetoothd does not run.
@Suite struct KernelEnrolmentTests {
    @Test func `A phone that pairs is enrolled, and nothing of it stays`() {
        let fixture = KernelFixture()
        fixture.start()
        #expect(fixture.progress == [.waiting])
        fixture.connects()
        #expect(fixture.files.record.devices == [KernelFixture.path])
        fixture.asks()
        #expect(fixture.kernel.commands.last == "userConfirmationReply \(KernelFixture.address)")
        fixture.pairs()
        guard case .enrolled(let key, isTested: true) = fixture.end else {
            Issue.record("\(fixture.events)")
            return
        }
        #expect(key.digits == "0F0E0D0C0B0A09080706050403020100")
        #expect(fixture.kernel.commands.contains("unpairDevice \(KernelFixture.identity) 1"))
        #expect(fixture.kernel.bonds.isEmpty)
        #expect(fixture.files.record.isEmpty)
        #expect(!fixture.kernel.isOpen)
    }

    @Test func `What was off is switched on before, and off again after everything else`() {
        let fixture = KernelFixture()
        fixture.start()
        #expect(
            fixture.kernel.commands == [
                "readIndexList", "readControllerInformation", "readAdvertisingFeatures", "setSecureConnections 1",
                "setBondable 1", "setPowered 1", "setInputOutputCapability 3", "loadIdentityResolvingKeys 0 0",
                "addAdvertising 2 3 0 0 0 0 0 240 0 17 0 3 3 13 24 3 25 64 3 8 9 103 97 116 101 119 97 121",
            ])
        let count = fixture.kernel.commands.count
        fixture.interrupt()
        #expect(
            fixture.kernel.commands[count...] == [
                "removeAdvertising 2", "setPowered 0", "setBondable 0", "setSecureConnections 0",
                "setInputOutputCapability 1", "loadConnectionParameters 0 0",
            ])
        #expect(fixture.end == .interrupted)
    }

    @Test func `What was on stays on`() {
        let fixture = KernelFixture()
        fixture.kernel.settings = [.lowEnergy, .powered, .bondable, .secureConnections]
        fixture.start()
        fixture.interrupt()
        #expect(fixture.end == .interrupted)
        #expect(!fixture.kernel.commands.contains { $0.hasPrefix("setPowered") || $0.hasPrefix("setBondable") })
    }

    @Test func `Nothing is changed that cannot be written to the disk before`() {
        let fixture = KernelFixture()
        fixture.files.failure = "disk full"
        fixture.start()
        #expect(fixture.end == .failed("disk full"))
        #expect(fixture.kernel.commands == ["readIndexList", "readControllerInformation", "readAdvertisingFeatures"])
    }

    @Test func `A controller without secure connections enrols all the same`() {
        let fixture = KernelFixture()
        fixture.kernel.refusals[.setSecureConnections] = 0x0b
        fixture.start()
        #expect(fixture.progress == [.waiting])
        fixture.interrupt()
        #expect(!fixture.kernel.commands.contains("setSecureConnections 0"))
        #expect(fixture.files.record.isEmpty)
    }

    @Test func `An adapter that does not switch on ends it, with advice`() {
        let fixture = KernelFixture()
        fixture.kernel.refusals[.setPowered] = ManagementStatus.rfkilled
        fixture.start()
        #expect(fixture.reason.contains("hci0: the kernel refuses setPowered: RFKilled"))
        #expect(fixture.reason.contains("rfkill unblock"))
    }

    @Test func `Only an adapter that may be used and can advertise is used`() {
        let other = KernelFixture()
        other.start(.keyboard, .index(1))
        #expect(other.files.record.changes.first?.adapter == 1)
        let none = KernelFixture()
        none.start(.keyboard, .index(7))
        #expect(none.reason.contains("the setting 'adapter'"))
        let full = KernelFixture()
        full.kernel.advertisements = (2, [1, 2])
        full.start()
        #expect(full.reason.contains("hci0 cannot advertise"))
        #expect(full.files.record.isEmpty)
    }

    @Test func `A phone that only connects is asked to pair; a refusal is told, and it is disconnected`() {
        let fixture = KernelFixture()
        fixture.start()
        fixture.connects()
        fixture.host.advance(by: EnrolmentCourse.patience)
        #expect(fixture.kernel.commands.last == "pairDevice \(KernelFixture.address) 3")
        fixture.kernel.says(0x11, KernelFixture.name(KernelFixture.address) + [5])
        // The command is answered, too.
        fixture.kernel.says(1, [0x19, 0, 5] + KernelFixture.name(KernelFixture.address))
        #expect(fixture.progress.suffix(1) == [.refused("Authentication Failed")])
        fixture.host.advance(by: EnrolmentCourse.duration)
        fixture.kernel.answer()
        #expect(fixture.end == .timeout(refusals: 1))
        #expect(fixture.kernel.commands.contains("disconnect \(KernelFixture.address)"))
        #expect(fixture.files.record.isEmpty)
    }

    @Test func `Who asks after another has paired is declined`() {
        let fixture = KernelFixture()
        let other = DeviceAddress(value: 0x7a00_0000_0001, isRandom: true)
        fixture.start()
        fixture.connects()
        fixture.connects(other)
        fixture.pairs(fixed: KernelFixture.address)
        fixture.asks(other)
        #expect(fixture.kernel.commands.last == "userConfirmationNegativeReply \(other)")
    }

    @Test func `Connections of other programs are left alone`() {
        let fixture = KernelFixture()
        fixture.isIncoming = false
        fixture.start()
        let count = fixture.kernel.commands.count
        fixture.connects()
        fixture.asks()
        fixture.pairs()
        fixture.host.advance(by: .seconds(5))
        #expect(fixture.kernel.commands.count == count)
        #expect(fixture.progress == [.waiting])
        #expect(fixture.files.record.devices.isEmpty)
    }

    @Test func `A device that gives no key is named by its address`() {
        let fixture = KernelFixture()
        let device = DeviceAddress(value: 0xc0ff_ee00_0001, isRandom: true)
        fixture.start()
        fixture.connects(device)
        fixture.pairs(fixed: device)
        fixture.disconnects(device)
        fixture.host.advance(by: EnrolmentCourse.keyTimeout)
        fixture.kernel.answer()
        #expect(fixture.end == .noKey(device))
        #expect(fixture.kernel.bonds.isEmpty)
    }

    @Test func `A key of zeros is none`() {
        let fixture = KernelFixture()
        fixture.start()
        fixture.connects()
        fixture.pairs([UInt8](repeating: 0, count: 16))
        fixture.host.advance(by: EnrolmentCourse.keyTimeout)
        fixture.kernel.answer()
        #expect(fixture.end == .noKey(KernelFixture.address))
    }

    @Test func `What a killed program left is undone`() {
        let fixture = KernelFixture()
        fixture.kernel.settings = [.lowEnergy, .powered, .bondable]
        fixture.kernel.bonds = [KernelFixture.identity]
        fixture.files.record.devices = [KernelFixture.path, KernelFixture.identityPath]
        fixture.files.record.changes = [AdapterChange(adapter: 0, settings: [.powered, .bondable], instance: 3)]
        fixture.start()
        #expect(fixture.progress == [.removedLeftover("\(KernelFixture.identity)"), .waiting])
        #expect(fixture.kernel.bonds.isEmpty)
        // Its advertisement is replaced.
        #expect(fixture.kernel.commands.last?.hasPrefix("addAdvertising 3 ") == true)
        fixture.interrupt()
        #expect(fixture.kernel.commands.contains("setBondable 0"))
        // The adapter may be in use since then.
        #expect(!fixture.kernel.commands.contains("setPowered 0"))
        #expect(fixture.files.record.isEmpty)
    }

    @Test func `What a killed program left is not forgotten before it is undone`() {
        let fixture = KernelFixture()
        fixture.files.record.devices = [KernelFixture.identityPath]
        fixture.kernel.refusals[.setPowered] = ManagementStatus.rfkilled
        fixture.start()
        #expect(fixture.end != nil)
        #expect(fixture.files.record.devices == [KernelFixture.identityPath])
    }

    @Test func `What bluetoothd or another adapter must undo stays in the record`() {
        let fixture = KernelFixture()
        var earlier = EnrolmentRecord()
        earlier.devices = ["/org/bluez/hci0/dev_61_44_12_88_D4_23", "/kernel/hci1/dev_00_AA_01_00_00_01"]
        earlier.changes = [AdapterChange(adapter: 1, settings: [.bondable], instance: 1)]
        fixture.files.record = earlier
        fixture.start()
        fixture.connects()
        fixture.pairs()
        #expect(fixture.end != nil)
        #expect(fixture.files.record == earlier)
    }

    @Test func `The record is read as it was written`() {
        var record = EnrolmentRecord()
        record.devices = [KernelFixture.path, "/org/bluez/hci0/dev_61_44_12_88_D4_23"]
        record.changes = [AdapterChange(adapter: 0, settings: [.bondable, .secureConnections], instance: 2)]
        #expect(EnrolmentRecord(parsing: record.bytes) == record)
        #expect(EnrolmentRecord(parsing: Array("changed 0 1\nchanged x 1 1\ndevice /etc\n".utf8)).isEmpty)
    }

    @Test func `bluetoothd's start ends it, and its settings and advertisements are left alone`() {
        let fixture = KernelFixture()
        fixture.start()
        let count = fixture.kernel.commands.count
        fixture.bluetoothdStarts()
        #expect(fixture.reason.contains("bluetoothd has started"))
        #expect(fixture.kernel.commands.count == count)
        #expect(fixture.files.record.isEmpty)
    }

    @Test func `What cannot be undone is told, and stays in the record`() {
        let fixture = KernelFixture()
        fixture.start()
        fixture.kernel.refusals[.removeAdvertising] = ManagementStatus.busy
        fixture.interrupt()
        #expect(fixture.left == ["hci0: the advertisement: Busy"])
        #expect(fixture.files.record.changes.first?.instance == 2)
    }

    @Test func `A kernel that no longer answers does not keep it from ending`() {
        let fixture = KernelFixture()
        fixture.start()
        fixture.kernel.isSilent = true
        fixture.interrupt()
        #expect(fixture.end == nil)
        fixture.host.advance(by: .seconds(5))
        #expect(fixture.end == .interrupted)
        #expect(fixture.left == ["hci0: the kernel does not answer"])
    }

    @Test func `An adapter that is unplugged or switched off ends it`() {
        let unplugged = KernelFixture()
        unplugged.start()
        unplugged.kernel.says(5, [])
        #expect(unplugged.reason == "the adapter was unplugged")
        let off = KernelFixture()
        off.start()
        off.kernel.says(6, octets([.lowEnergy, .bondable]))
        #expect(off.reason == "the adapter was switched off")
    }

    @Test(arguments: [0x0a, 0x0b, 0x0c, 0x0f, 0x11, 0x18] as [UInt16])
    func `An event that is too short, or of no Low Energy device, is passed over`(code: UInt16) {
        for length in 0..<40 {
            let zeros = [UInt8](repeating: 0, count: length)
            #expect(PairingEvent(code: code, parameters: zeros.span) == nil)
        }
    }
}
