import Base
import Beacon
import DBus
import DBusSupport
import HostSupport
import Identities
import Scanning
import Testing

@testable import Enrolment

/// Files in memory.
final class Files: EnrolmentStorage {
    var record = EnrolmentRecord()
    var bonds: [DeviceAddress: [UInt8]] = [:]
    var failure: String?

    func readRecord() -> EnrolmentRecord { record }
    func write(_ record: EnrolmentRecord) -> String? {
        if failure == nil { self.record = record }
        return failure
    }
    func bond(adapter: DeviceAddress, device: DeviceAddress) -> [UInt8]? { bonds[device] }
}

/// bluetoothd as its messages show it.
final class BlueZEnrolmentFixture {
    static let adapter = "/org/bluez/hci0"
    /// The key below resolves this address; both were seen in a pairing of two kernels.
    static let phone = "\(adapter)/dev_61_44_12_88_D4_23"
    static let address = "61:44:12:88:D4:23"
    static let identity = DeviceAddress(value: 0x00aa_0100_0001, isRandom: false)
    static let bond = Array("[IdentityResolvingKey]\nKey=000102030405060708090A0B0C0D0E0F\n".utf8)

    let host = ManualHost()
    let bus = ScriptedBus()
    let files = Files()
    /// The kernel's management interface; nil: it may not be used.
    var kernel: FakeKernel?
    var isIncoming: Bool? = true
    private(set) var events: [EnrolmentEvent] = []
    private(set) var enrolment: BlueZEnrolment?

    func start(_ profile: AccessoryProfile = .heartRateSensor, _ selection: AdapterSelection = .all) {
        let enrolment = BlueZEnrolment(
            EnrolmentAppearance(name: "gateway", profile: profile, selection: selection), host: host, bus: bus,
            storage: files,
            openKernel: { [unowned self] () throws(ScannerError) in
                guard let kernel else { throw ScannerError(.permission, "no right") }
                return kernel
            }, isIncoming: { [unowned self] _, _ in isIncoming }, onEvent: { [unowned self] in events.append($0) })
        self.enrolment = enrolment
        enrolment.start()
    }

    /// The answer to GetManagedObjects: an adapter, and devices that are paired, by the end of their path.
    func shows(
        isPowered: Bool = true, isPairable: Bool = true, canAdvertise: Bool = true, hasServices: Bool? = nil,
        paired: [String] = []
    ) {
        bus.answer("GetManagedObjects") { writer in
            writer.container(BusType.array, "{oa{sa{sv}}}") { objects in
                Self.object(&objects, Self.adapter) { interfaces in
                    Self.interface(&interfaces, "org.bluez.Adapter1") { properties in
                        properties.property("Address", "s") { $0.string("00:AA:01:00:00:42") }
                        properties.property("Powered", "b") { $0.boolean(isPowered) }
                        properties.property("Pairable", "b") { $0.boolean(isPairable) }
                    }
                    if canAdvertise { Self.interface(&interfaces, "org.bluez.LEAdvertisingManager1") { _ in } }
                    if hasServices ?? canAdvertise { Self.interface(&interfaces, "org.bluez.GattManager1") { _ in } }
                }
                for device in paired {
                    let named = BluetoothdObjects.address(in: device)
                    let address = device == Self.phone ? Self.identity : named ?? Self.identity
                    Self.object(&objects, device) { interfaces in
                        Self.interface(&interfaces, "org.bluez.Device1") { properties in
                            properties.property("Address", "s") { $0.string("\(address)") }
                            properties.property("AddressType", "s") { $0.string("public") }
                            properties.property("Paired", "b") { $0.boolean(true) }
                        }
                    }
                }
            }
        }
    }

    /// bluetoothd accepts all but the advertisement.
    func refusesAdvertisement(with name: String = "org.bluez.Error.Failed") {
        for member in ["RegisterAgent", "RequestDefaultAgent", "RegisterApplication"] { bus.answer(member) }
        bus.refuse("RegisterAdvertisement", with: name)
    }

    /// bluetoothd accepts all that is registered.
    func accepts() {
        for member in ["RegisterAgent", "RequestDefaultAgent", "RegisterApplication", "RegisterAdvertisement"] {
            #expect(bus.calls.count == 1 && bus.calls.first?.hasPrefix(member) == true, "\(bus.calls)")
            bus.answer(member)
        }
    }

    /// bluetoothd ends.
    func ends() {
        bus.signal("/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged") { writer in
            for word in ["org.bluez", ":1.1", ""] { writer.string(word) }
        }
    }

    func connects(_ path: String = phone, isTrusted: Bool = false) {
        bus.signal("/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded") { writer in
            writer.path(path)
            writer.container(BusType.array, "{sa{sv}}") { interfaces in
                Self.interface(&interfaces, "org.bluez.Device1") { properties in
                    properties.property("Address", "s") { $0.string(Self.address) }
                    properties.property("AddressType", "s") { $0.string("random") }
                    properties.property("Connected", "b") { $0.boolean(true) }
                    properties.property("Paired", "b") { $0.boolean(false) }
                    properties.property("Trusted", "b") { $0.boolean(isTrusted) }
                }
            }
        }
    }

    func changes(_ path: String = phone, _ body: (inout BusWriter) -> Void) {
        bus.signal(path, "org.freedesktop.DBus.Properties", "PropertiesChanged") { writer in
            writer.string("org.bluez.Device1")
            writer.container(BusType.array, "{sv}", body)
            writer.container(BusType.array, "s") { _ in }
        }
    }

    /// The phone has paired, and bluetoothd calls it by its identity address.
    func pairs(_ path: String = phone, hasKey: Bool = true) {
        files.bonds[Self.identity] = hasKey ? Self.bond : []
        changes(path) { properties in
            properties.property("Address", "s") { $0.string("\(Self.identity)") }
            properties.property("AddressType", "s") { $0.string("public") }
        }
        changes(path) { $0.property("Paired", "b") { $0.boolean(true) } }
    }

    func removes() {
        files.bonds = [:]
        bus.answer("RemoveDevice")
    }

    /// Whether the agent allows a device to pair.
    func agentAllows(_ path: String) -> Bool {
        let count = bus.sent.count
        bus.call(of: EnrolmentObjects.agent, "org.bluez.Agent1", "RequestAuthorization") { $0.path(path) }
        return bus.sent.count == count + 1 && bus.sent.last?.isError == false
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

    private static func object(
        _ objects: inout BusWriter, _ path: String, _ body: (inout BusWriter) -> Void
    ) {
        objects.container(BusType.dictionaryEntry, nil) { object in
            object.path(path)
            object.container(BusType.array, "{sa{sv}}", body)
        }
    }

    private static func interface(
        _ interfaces: inout BusWriter, _ name: String, _ body: (inout BusWriter) -> Void
    ) {
        interfaces.container(BusType.dictionaryEntry, nil) { entry in
            entry.string(name)
            entry.container(BusType.array, "{sv}", body)
        }
    }
}

/// An enrolment as bluetoothd sees it.
@Suite struct BlueZEnrolmentTests {
    private typealias Fixture = BlueZEnrolmentFixture

    @Test func `A phone that pairs is enrolled, and nothing of it stays`() {
        let fixture = Fixture()
        fixture.start()
        fixture.shows()
        fixture.accepts()
        #expect(fixture.progress == [.waiting])
        fixture.connects()
        #expect(fixture.files.record.devices == [Fixture.phone])
        fixture.host.advance(by: EnrolmentCourse.patience)
        #expect(fixture.bus.calls == ["Pair dev_61_44_12_88_D4_23"])
        fixture.pairs()
        #expect(fixture.bus.calls.contains("UnregisterAdvertisement hci0"))
        #expect(fixture.bus.calls.last == "RemoveDevice hci0")
        #expect(fixture.end == nil)
        fixture.removes()
        guard case .enrolled(let key, isTested: true) = fixture.end else {
            Issue.record("\(fixture.events)")
            return
        }
        #expect(key.digits == "0F0E0D0C0B0A09080706050403020100")
        #expect(fixture.files.record.isEmpty)
    }

    @Test func `A device that gives no key is named by its address`() {
        let fixture = Fixture()
        fixture.start()
        fixture.shows()
        fixture.accepts()
        fixture.connects()
        fixture.pairs(hasKey: false)
        fixture.host.advance(by: EnrolmentCourse.keyTimeout)
        fixture.removes()
        #expect(fixture.end == .noKey(DeviceAddress(value: 0x6144_1288_d423, isRandom: true)))
        #expect(fixture.files.record.isEmpty)
    }

    @Test func `A bond that a killed program left is removed first`() {
        let fixture = Fixture()
        fixture.files.record.devices = [Fixture.phone, "/org/bluez/hci0/dev_00_00_00_00_00_01"]
        fixture.start()
        fixture.shows(paired: [Fixture.phone, "/org/bluez/hci0/dev_00_00_00_00_00_02"])
        #expect(fixture.bus.calls == ["RemoveDevice hci0"])
        fixture.removes()
        #expect(fixture.progress == [.removedLeftover(Fixture.address)])
        #expect(fixture.files.record.isEmpty)
        fixture.accepts()
    }

    @Test func `A bond that cannot be removed stays in the record`() {
        let fixture = Fixture()
        fixture.files.record.devices = [Fixture.phone]
        fixture.start()
        fixture.shows(paired: [Fixture.phone])
        fixture.bus.refuse("RemoveDevice")
        #expect(fixture.end != nil)
        #expect(fixture.files.record.devices == [Fixture.phone])
    }

    @Test(arguments: [3, 30])
    func `bluetoothd may answer before it removes the bond's file, and is given some seconds`(seconds: Int) {
        let fixture = Fixture()
        fixture.start()
        fixture.shows()
        fixture.accepts()
        fixture.connects()
        fixture.pairs()
        fixture.bus.answer("RemoveDevice")
        for _ in 0..<seconds { fixture.host.advance(by: .seconds(1)) }
        fixture.files.bonds = [:]
        fixture.host.advance(by: .seconds(1))
        guard case .enrolled = fixture.end else {
            Issue.record("\(fixture.events)")
            return
        }
        #expect(fixture.files.record.isEmpty == (seconds == 3))
    }

    @Test func `After a restart of bluetoothd the leftover is found by its key`() {
        let fixture = Fixture()
        fixture.files.record.devices = [Fixture.phone]
        fixture.files.bonds[Fixture.identity] = Fixture.bond
        fixture.start()
        fixture.shows(paired: ["/org/bluez/hci0/dev_00_AA_01_00_00_01"])
        #expect(fixture.bus.calls == ["RemoveDevice hci0"])
    }

    @Test func `The user's own devices stay`() {
        let fixture = Fixture()
        fixture.files.bonds[Fixture.identity] = Fixture.bond
        fixture.start()
        fixture.shows(paired: ["/org/bluez/hci0/dev_00_AA_01_00_00_01"])
        fixture.accepts()
        #expect(fixture.bus.calls.isEmpty)
        // One of them connects.
        fixture.changes("/org/bluez/hci0/dev_00_AA_01_00_00_01") { $0.property("Connected", "b") { $0.boolean(true) } }
        fixture.host.advance(by: EnrolmentCourse.duration)
        #expect(fixture.progress == [.waiting, .known("\(Fixture.identity)")])
        #expect(fixture.end == .timeout(refusals: 0))
        #expect(!fixture.bus.calls.contains { $0.hasPrefix("RemoveDevice") || $0.hasPrefix("Pair") })
    }

    @Test func `The user's own pairing of the same phone stays, and so does the new one`() {
        let fixture = Fixture()
        fixture.start()
        // Over BR/EDR, where the phone has its identity address.
        fixture.shows(paired: ["/org/bluez/hci0/dev_00_AA_01_00_00_01"])
        fixture.accepts()
        fixture.connects()
        fixture.pairs()
        #expect(fixture.progress.last == .pairingStays("\(Fixture.identity)"))
        #expect(!fixture.bus.calls.contains { $0.hasPrefix("RemoveDevice") })
        guard case .ended(.enrolled, left: []) = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
        #expect(fixture.files.record.isEmpty, "or the next enrolment would remove it")
    }

    @Test func `A device that the user trusts is not enrolled, and stays`() {
        let fixture = Fixture()
        fixture.start()
        fixture.shows()
        fixture.accepts()
        fixture.connects(isTrusted: true)
        #expect(!fixture.agentAllows(Fixture.phone))
        fixture.host.advance(by: EnrolmentCourse.duration)
        #expect(fixture.progress == [.waiting, .known(Fixture.address)])
        #expect(fixture.end == .timeout(refusals: 0))
        #expect(!fixture.bus.calls.contains { $0.hasPrefix("RemoveDevice") || $0.hasPrefix("Pair") })
    }

    @Test func `Connections of other programs are left alone`() {
        let fixture = Fixture()
        fixture.isIncoming = false
        fixture.start()
        fixture.shows()
        fixture.accepts()
        fixture.connects()
        fixture.pairs()
        #expect(!fixture.agentAllows(Fixture.phone))
        fixture.host.advance(by: .seconds(5))
        #expect(fixture.bus.calls.isEmpty)
        #expect(fixture.progress == [.waiting])
    }

    @Test func `The agent allows whoever connected here, and nobody else`() {
        let fixture = Fixture()
        fixture.start()
        #expect(!fixture.agentAllows(Fixture.phone))
        fixture.shows()
        fixture.accepts()
        #expect(!fixture.agentAllows("/org/bluez/hci1/dev_61_44_12_88_D4_23"))
        #expect(!fixture.agentAllows(Fixture.phone))
        fixture.connects()
        #expect(fixture.agentAllows(Fixture.phone))
        fixture.pairs()
        #expect(!fixture.agentAllows(Fixture.phone))
    }

    @Test func `Pairing that was switched off is on during the enrolment only`() {
        let fixture = Fixture()
        fixture.start()
        fixture.shows(isPairable: false)
        #expect(fixture.bus.calls == ["Set hci0"])
        #expect(fixture.files.record.unpairable == [Fixture.adapter])
        fixture.bus.answer("Set")
        fixture.accepts()
        fixture.enrolment?.interrupt()
        #expect(fixture.bus.calls.contains("Set hci0"))
        #expect(fixture.end == .interrupted)
        #expect(fixture.files.record.isEmpty)
    }

    @Test(arguments: [
        "RegisterAgent", "RequestDefaultAgent", "RegisterApplication", "RegisterAdvertisement",
    ])
    func `What bluetoothd refuses ends the enrolment`(member: String) {
        let fixture = Fixture()
        fixture.start()
        fixture.shows()
        for earlier in ["RegisterAgent", "RequestDefaultAgent", "RegisterApplication"] where earlier != member {
            fixture.bus.answer(earlier)
        }
        fixture.bus.refuse(member)
        guard case .failed(let reason) = fixture.end else {
            Issue.record("\(fixture.events)")
            return
        }
        #expect(reason.contains(member))
    }

    @Test func `Without bluetoothd nothing is begun, and the owner is told`() {
        let fixture = Fixture()
        fixture.start()
        fixture.bus.refuse("GetManagedObjects", with: "org.freedesktop.DBus.Error.ServiceUnknown")
        fixture.host.advance(by: EnrolmentCourse.duration)
        #expect(fixture.events == [.withoutBluetoothd])
        #expect(fixture.bus.calls.isEmpty)
    }

    @Test func `A record that cannot be written ends it before anything pairs`() {
        let fixture = Fixture()
        fixture.start()
        fixture.shows()
        fixture.accepts()
        fixture.files.failure = "disk full"
        fixture.connects()
        #expect(!fixture.agentAllows(Fixture.phone))
        fixture.removes()
        #expect(fixture.end == .failed("disk full"))
    }

    @Test(arguments: [AccessoryProfile.heartRateSensor, .keyboard])
    func `A phone must encrypt to read the service`(profile: AccessoryProfile) {
        let fixture = Fixture()
        fixture.start(profile)
        fixture.bus.call(of: EnrolmentObjects.root, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects") { _ in }
        var flags: [String] = []
        fixture.bus.sent.last?.reader.forEach { element in
            guard var object = element.inside else { return }
            object.next()
            object.forEachEntry { _, properties in
                properties.forEachEntry { name, value in
                    if name == "Flags" { value.forEach { flags.append($0.string ?? "") } }
                }
            }
        }
        #expect(flags.contains("encrypt-read"))
        #expect(!flags.contains("read") && !flags.contains("write"))
    }
}
