import AddressKeys
package import Base
package import Beacon
package import DBus
import Identities
package import Scanning

/// Enrols a phone through bluetoothd: carries out what the course decides, and tells it what happens.
///
/// bluetoothd ends the advertisement, the service and the agent when the connection to the bus ends, also when the program is
/// killed. What else changes is in the record before it changes.
package final class BlueZEnrolment {
    static let bluez = "org.bluez"
    static let properties = "org.freedesktop.DBus.Properties"
    static let objectManager = "org.freedesktop.DBus.ObjectManager"

    /// How the gateway appears to the phone, and where.
    package struct Appearance: Sendable {
        /// What the phone's list of devices shows.
        let name: String
        let profile: AccessoryProfile
        let selection: AdapterSelection

        package init(name: String, profile: AccessoryProfile, selection: AdapterSelection) {
            (self.name, self.profile, self.selection) = (name, profile, selection)
        }
    }

    /// What the owner of an enrolment is told.
    package enum Event: Hashable, Sendable {
        case progress(EnrolmentProgress)
        /// The last event.
        ///
        /// - Parameter left: What could not be undone, and why.
        case ended(EnrolmentOutcome, left: [String])
    }

    let host: any EventHost
    let bus: any MessageBus
    let appearance: Appearance
    private let storage: any EnrolmentStorage
    private let isIncoming: (_ adapter: UInt16, _ device: DeviceAddress) -> Bool?
    private let onEvent: (Event) -> Void
    private var course: EnrolmentCourse
    private var timer: (any EventRegistration)?
    private var record = EnrolmentRecord()
    private(set) var objects = BluetoothdObjects()
    /// The adapter's object; empty until it is chosen.
    private(set) var adapter = ""

    /// - Parameters:
    ///   - isIncoming: Whether the other side has made the connection with this device; nil if nobody knows.
    ///   - onEvent: Called on the loop's thread.
    package init(
        _ appearance: Appearance, host: any EventHost, bus: any MessageBus, storage: any EnrolmentStorage,
        isIncoming: @escaping (_ adapter: UInt16, _ device: DeviceAddress) -> Bool?, onEvent: @escaping (Event) -> Void
    ) {
        (self.appearance, self.host, self.bus, self.storage) = (appearance, host, bus, storage)
        (self.isIncoming, self.onEvent) = (isIncoming, onEvent)
        course = EnrolmentCourse(at: host.now)
    }

    package func start() {
        bus.onMessage = { [weak self] in self?.receive($0) }
        bus.onClosed = { [weak self] in self?.handle(.failed("the D-Bus system bus is gone")) }
        for interface in [Self.properties, Self.objectManager] {
            bus.match("type='signal',sender='\(Self.bluez)',interface='\(interface)'")
        }
        bus.match("type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(Self.bluez)'")
        bus.open()
        arm()
        prepare()
    }

    /// Ends the enrolment. The event `ended` follows when everything is undone.
    package func interrupt() { handle(.interrupted) }

    // MARK: The course

    func handle(_ input: EnrolmentCourse.Input) {
        for effect in course.handle(input, at: host.now) { carryOut(effect) }
        arm()
    }

    private func arm() {
        timer?.cancel()
        timer = course.nextDeadline.map { deadline in host.at(deadline) { [weak self] in self?.handle(.tick) } }
    }

    private func carryOut(_ effect: EnrolmentCourse.Effect) {
        switch effect {
        case .say(let progress): onEvent(.progress(progress))
        case .record(let device):
            record.devices.append(device)
            save()
        case .pair(let device): pair(device)
        case .readKey(let device): readKey(device)
        case .withdraw: withdraw()
        case .remove(let device): remove(device) { [weak self] in self?.handle(.removed(device, failure: $0)) }
        case .end(let outcome, let left):
            if left.isEmpty {
                record.devices = []
                save()
            }
            timer?.cancel()
            bus.close()
            onEvent(.ended(outcome, left: left))
        }
    }

    private func save() {
        if let reason = storage.write(record) { handle(.failed(reason)) }
    }

    private func pair(_ device: String) {
        bus.call(BusMessage.call(Self.bluez, device, "org.bluez.Device1", "Pair")) { [weak self] answer in
            // The phone may pair by itself at the same time.
            guard answer.isError, !answer.errorName.hasSuffix(".InProgress"),
                !answer.errorName.hasSuffix(".AlreadyExists")
            else { return }
            self?.handle(.refused(device, reason: answer.errorText))
        }
    }

    private func readKey(_ device: String) {
        let key = key(of: device)
        let resolves = course.address(of: device).flatMap { address in key.flatMap { Self.resolves($0, address) } }
        handle(.key(key, resolves: resolves))
    }

    /// The key that bluetoothd has stored.
    private func key(of device: String) -> IdentityKey? {
        guard let known = objects.devices[device], let address = known.address,
            let adapter = objects.adapters[known.adapter]?.address,
            let file = storage.bond(adapter: adapter, device: address)
        else { return nil }
        return BondFile.identityKey(in: file)
    }

    /// Whether the key resolves the address; nil if it is no resolvable address, or libcrypto offers no AES-128.
    private static func resolves(_ key: IdentityKey, _ address: DeviceAddress) -> Bool? {
        guard let address = ResolvableAddress(address), let ciphers = KeyCiphers([key]) else { return nil }
        return ciphers.hash(of: address.random, key: 0, isReversed: false) == address.hash
    }

    // MARK: Before

    /// Removes what an earlier enrolment left, and begins to advertise. Each step waits for the one before.
    private func prepare() {
        ask("/", Self.objectManager, "GetManagedObjects") { enrolment, answer in
            enrolment.objects.take(objects: answer.reader)
            guard let adapter = enrolment.chosenAdapter() else { return }
            enrolment.adapter = adapter.path
            let earlier = enrolment.storage.readRecord()
            // What was switched on before is switched off at the end.
            enrolment.record.unpairable = earlier.unpairable
            enrolment.removeLeftovers(enrolment.leftovers(of: earlier)[...])
        }
    }

    private func chosenAdapter() -> BluetoothdObjects.Adapter? {
        let selected = objects.adapters.values.filter { adapter in
            guard let index = adapter.index, let address = adapter.address else { return false }
            return appearance.selection.includes(index: index, address: address)
        }.sorted { ($0.index ?? 0) < ($1.index ?? 0) }
        guard let first = selected.first else {
            handle(.failed("bluetoothd has no Bluetooth adapter that the setting 'adapter' allows; see: doctor"))
            return nil
        }
        guard let able = selected.first(where: { $0.canAdvertise && $0.hasServices }) else {
            handle(.failed("the adapter \(first.path.split(separator: "/").last ?? "") cannot advertise"))
            return nil
        }
        return able
    }

    /// The devices of the record that are paired, under whichever name bluetoothd has them now.
    private func leftovers(of record: EnrolmentRecord) -> [String] {
        var found: Set<String> = []
        for path in record.devices {
            if let device = objects.devices[path] {
                if device.isPaired { found.insert(path) }
                continue
            }
            // After a restart bluetoothd calls the device by its identity address.
            guard let address = BluetoothdObjects.address(in: path) else { continue }
            for device in objects.devices.values where device.isPaired && path.hasPrefix("\(device.adapter)/") {
                if let key = key(of: device.path), Self.resolves(key, address) == true { found.insert(device.path) }
            }
        }
        return found.sorted()
    }

    private func removeLeftovers(_ devices: ArraySlice<String>) {
        guard let device = devices.first else {
            save()
            return powerOn()
        }
        remove(device) { [weak self] failure in
            guard let self else { return }
            if let failure {
                return handle(.failed("the pairing that an interrupted enrolment left cannot be removed: \(failure)"))
            }
            onEvent(.progress(.removedLeftover(BluetoothdObjects.address(in: device).map { "\($0)" } ?? device)))
            removeLeftovers(devices.dropFirst())
        }
    }

    private func powerOn() {
        guard objects.adapters[adapter]?.isPowered != true else { return makePairable() }
        set("Powered", to: true) { $0.makePairable() }
    }

    private func makePairable() {
        guard objects.adapters[adapter]?.isPairable != true else { return register() }
        if !record.unpairable.contains(adapter) { record.unpairable.append(adapter) }
        save()
        set("Pairable", to: true) { $0.register() }
    }

    private func register() {
        ask("/org/bluez", "org.bluez.AgentManager1", "RegisterAgent") { writer in
            writer.path(EnrolmentObjects.agent)
            // The phone asks its owner, and there may be no screen here.
            writer.string("NoInputNoOutput")
        } then: { enrolment, _ in
            enrolment.ask("/org/bluez", "org.bluez.AgentManager1", "RequestDefaultAgent") { writer in
                writer.path(EnrolmentObjects.agent)
            } then: { enrolment, _ in
                enrolment.registerObject("org.bluez.GattManager1", "RegisterApplication", EnrolmentObjects.root) {
                    $0.registerObject(
                        "org.bluez.LEAdvertisingManager1", "RegisterAdvertisement", EnrolmentObjects.advertisement
                    ) { $0.handle(.advertised) }
                }
            }
        }
    }

    private func registerObject(
        _ interface: String, _ member: String, _ object: String, then next: @escaping (BlueZEnrolment) -> Void
    ) {
        ask(adapter, interface, member) { writer in
            writer.path(object)
            writer.container(BusType.array, "{sv}") { _ in }
        } then: { enrolment, _ in
            next(enrolment)
        }
    }

    // MARK: After

    private func withdraw() {
        let calls = [
            (adapter, "org.bluez.LEAdvertisingManager1", "UnregisterAdvertisement", EnrolmentObjects.advertisement),
            (adapter, "org.bluez.GattManager1", "UnregisterApplication", EnrolmentObjects.root),
            ("/org/bluez", "org.bluez.AgentManager1", "UnregisterAgent", EnrolmentObjects.agent),
        ]
        for (path, interface, member, object) in calls where !path.isEmpty {
            let message = BusMessage.call(Self.bluez, path, interface, member)
            message?.append { $0.path(object) }
            // There may be nothing to withdraw.
            bus.call(message) { _ in }
        }
        for path in record.unpairable {
            bus.call(setting("Pairable", of: path, to: false)) { _ in }
        }
        record.unpairable = []
    }

    /// Removes a device with its bond.
    ///
    /// - Parameter done: Gets the reason if it is still there, else nil.
    private func remove(_ device: String, _ done: @escaping (String?) -> Void) {
        guard let known = objects.devices[device] else { return done(nil) }
        let message = BusMessage.call(Self.bluez, known.adapter, "org.bluez.Adapter1", "RemoveDevice")
        message?.append { $0.path(device) }
        bus.call(message) { [weak self] answer in
            guard let self else { return }
            guard !answer.isError || answer.errorName.hasSuffix(".DoesNotExist") else {
                return done("\(device): \(answer.errorText)")
            }
            if let adapter = objects.adapters[known.adapter]?.address, let address = known.address,
                storage.bond(adapter: adapter, device: address) != nil
            {
                return done("\(device): bluetoothd has removed it, and its file is still there")
            }
            done(nil)
        }
    }

    // MARK: The bus

    /// Calls bluetoothd. An error ends the enrolment.
    private func ask(
        _ path: String, _ interface: String, _ member: String, _ arguments: (inout BusWriter) -> Void = { _ in },
        then next: @escaping (BlueZEnrolment, BusMessage) -> Void
    ) {
        let message = BusMessage.call(Self.bluez, path, interface, member)
        message?.append(arguments)
        bus.call(message) { [weak self] in self?.answered(member, $0, next) }
    }

    private func set(_ property: String, to value: Bool, then next: @escaping (BlueZEnrolment) -> Void) {
        bus.call(setting(property, of: adapter, to: value)) { [weak self] in
            self?.answered(property, $0) { enrolment, _ in next(enrolment) }
        }
    }

    private func setting(_ property: String, of adapter: String, to value: Bool) -> BusMessage? {
        let message = BusMessage.call(Self.bluez, adapter, Self.properties, "Set")
        message?.append { writer in
            writer.string("org.bluez.Adapter1")
            writer.string(property)
            writer.container(BusType.variant, "b") { $0.boolean(value) }
        }
        return message
    }

    private func answered(
        _ what: String, _ answer: BusMessage, _ next: (BlueZEnrolment, BusMessage) -> Void
    ) {
        guard course.state == .preparing else { return }
        guard answer.isError else { return next(self, answer) }
        let isGone = answer.errorName.hasSuffix("NameHasNoOwner") || answer.errorName.hasSuffix("ServiceUnknown")
        let reason =
            isGone
            ? "bluetoothd is not running, and a phone pairs with bluetoothd only; start it: sudo systemctl start bluetooth"
            : "bluetoothd refuses \(what): \(answer.errorText)"
        handle(.failed(reason))
    }

    /// Takes a change of bluetoothd's objects, and tells the course what it means.
    func change(_ path: String, _ change: (inout BluetoothdObjects) -> Void) {
        let before = objects.devices[path]
        change(&objects)
        if path == adapter, objects.adapters[path]?.isPowered == false, course.state != .preparing {
            handle(.failed("the adapter was switched off"))
        }
        guard !adapter.isEmpty, path.hasPrefix("\(adapter)/") else { return }
        let after = objects.devices[path]
        if before?.isConnected != true, let after, after.isConnected {
            connected(after, wasPaired: before?.isPaired == true)
        }
        if before?.isPaired != true, after?.isPaired == true { handle(.paired(path)) }
        if before?.isConnected == true, after?.isConnected != true { handle(.disconnected(path)) }
    }

    private func connected(_ device: BluetoothdObjects.Device, wasPaired: Bool) {
        guard let index = objects.adapters[adapter]?.index, let address = device.address,
            isIncoming(index, address) == true
        else { return }
        guard !wasPaired else { return onEvent(.progress(.known("\(address)"))) }
        handle(.connected(device.path, address, isIncoming: true))
    }

    /// Whether a device may pair that asks for it.
    func allows(_ path: String) -> Bool {
        guard !adapter.isEmpty, path.hasPrefix("\(adapter)/"), let device = objects.devices[path], !device.isPaired,
            let address = device.address, let index = objects.adapters[adapter]?.index,
            isIncoming(index, address) != false
        else { return false }
        // Where the kernel did not say whose connection it is, the question says it.
        handle(.connected(path, address, isIncoming: false))
        return course.allows(path)
    }
}
