package import Base
package import Beacon
package import DBus
import Identities
package import KernelScanning
import Scanning

/// Enrols a phone through bluetoothd: carries out what the course decides, and tells it what happens.
///
/// bluetoothd ends the advertisement, the service and the agent when the connection to the bus ends, also when the program is
/// killed. What else changes is in the record before it changes.
package final class BlueZEnrolment: Enrolment, PairingBackend {
    package static let bluez = "org.bluez"
    static let properties = "org.freedesktop.DBus.Properties"
    static let objectManager = "org.freedesktop.DBus.ObjectManager"

    let bus: any MessageBus
    let host: any EventHost
    let appearance: EnrolmentAppearance
    let run: EnrolmentRun
    /// Opens the kernel's management interface, for where bluetoothd refuses the advertisement.
    let openKernel: ManagementOpener
    /// The advertisement at the kernel; nil while bluetoothd has it.
    var kernelAdvertisement: KernelAdvertisement?
    private let isIncoming: (_ adapter: UInt16, _ device: DeviceAddress) -> Bool?
    private(set) var objects = BluetoothdObjects()
    /// The adapter's object; empty until it is chosen.
    private(set) var adapter = ""
    /// What could not be undone, and why.
    private var left: [String] = []
    private var finished: (() -> Void)?
    /// What was paired before this enrolment, without what an earlier one left.
    private var ownPairings: [BluetoothdObjects.Device] = []

    /// - Parameters:
    ///   - isIncoming: Whether the other side has made the connection with this device; nil if nobody knows.
    ///   - onEvent: Called on the loop's thread.
    package init(
        _ appearance: EnrolmentAppearance, host: any EventHost, bus: any MessageBus, storage: any EnrolmentStorage,
        openKernel: @escaping ManagementOpener,
        isIncoming: @escaping (_ adapter: UInt16, _ device: DeviceAddress) -> Bool?,
        onEvent: @escaping (EnrolmentEvent) -> Void
    ) {
        (self.appearance, self.host, self.bus, self.isIncoming) = (appearance, host, bus, isIncoming)
        self.openKernel = openKernel
        run = EnrolmentRun(with: "bluetoothd", host: host, storage: storage, onEvent: onEvent)
        run.backend = self
    }

    package func start() {
        bus.onMessage = { [weak self] in self?.receive($0) }
        bus.onClosed = { [weak self] in self?.run.handle(.failed("the D-Bus system bus is gone")) }
        for interface in [Self.properties, Self.objectManager] {
            bus.match("type='signal',sender='\(Self.bluez)',interface='\(interface)'")
        }
        bus.open()
        run.start()
        prepare()
    }

    package func interrupt() { run.handle(.interrupted) }

    // MARK: The course

    func pair(_ device: String) {
        bus.call(BusMessage.call(Self.bluez, device, "org.bluez.Device1", "Pair")) { [weak self] answer in
            // The phone may pair by itself at the same time.
            guard answer.isError, !answer.errorName.hasSuffix(".InProgress"),
                !answer.errorName.hasSuffix(".AlreadyExists")
            else { return }
            self?.run.handle(.refused(device, reason: answer.errorText))
        }
    }

    /// The key that bluetoothd has stored.
    func key(of device: String) -> IdentityKey? { bond(of: device).flatMap { BondFile.identityKey(in: $0) } }

    private func bond(of device: String) -> [UInt8]? {
        guard let known = objects.devices[device], let address = known.address,
            let adapter = objects.adapters[known.adapter]?.address
        else { return nil }
        return run.storage.bond(adapter: adapter, device: address)
    }

    // MARK: Before

    /// Removes what an earlier enrolment left, and begins to advertise. Each step waits for the one before.
    private func prepare() {
        ask("/", Self.objectManager, "GetManagedObjects") { enrolment, answer in
            enrolment.objects.take(objects: answer.reader)
            guard let adapter = enrolment.chosenAdapter() else { return }
            enrolment.adapter = adapter.path
            enrolment.removeLeftovers(enrolment.leftovers(of: enrolment.run.record)[...])
        }
    }

    private func chosenAdapter() -> BluetoothdObjects.Adapter? {
        let selected = objects.adapters.values.filter { adapter in
            guard let index = adapter.index, let address = adapter.address else { return false }
            return appearance.selection.includes(index: index, address: address)
        }.sorted { ($0.index ?? 0) < ($1.index ?? 0) }
        guard let first = selected.first else {
            run.handle(.failed("bluetoothd has no Bluetooth adapter that the setting 'adapter' allows; see: doctor"))
            return nil
        }
        // Where bluetoothd offers no advertisements, the kernel says whether the controller can advertise.
        guard
            let able = selected.first(where: { $0.canAdvertise && $0.hasServices })
                ?? selected.first(where: \.hasServices)
        else {
            run.handle(.failed("the adapter \(first.path.split(separator: "/").last ?? "") cannot advertise"))
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
                if let key = key(of: device.path), EnrolmentRun.resolves(key, address) == true {
                    found.insert(device.path)
                }
            }
        }
        ownPairings = objects.devices.values.filter { $0.isPaired && !found.contains($0.path) }
        // Whether the user has paired the phone for audio as well cannot be seen: a pairing over LE makes a key for BR/EDR, too.
        return found.sorted()
    }

    /// Whether the user has paired this machine with the same device before, over BR/EDR: bluetoothd has another object for
    /// that, with the same address, and one file for both. `RemoveDevice` deletes the file.
    private func isPairedOtherwise(_ path: String) -> Bool {
        guard let device = objects.devices[path], let address = device.address else { return false }
        return ownPairings.contains {
            $0.path != path && $0.adapter == device.adapter && $0.address?.value == address.value
        }
    }

    private func leavePairing(of path: String) {
        run.record.devices.removeAll { $0 == path }
        run.say(.pairingStays(objects.devices[path]?.address.map { "\($0)" } ?? path))
    }

    private func removeLeftovers(_ devices: ArraySlice<String>) {
        guard let device = devices.first else {
            return endLeftAdvertisements { [weak self] in self?.begin() }
        }
        remove(device) { [weak self] failure in
            guard let self else { return }
            if let failure { return run.leftoverStays(failure) }
            run.say(.removedLeftover(BluetoothdObjects.address(in: device).map { "\($0)" } ?? device))
            removeLeftovers(devices.dropFirst())
        }
    }

    private func begin() {
        // What was switched on before is switched off at the end. What was changed at the kernel, bluetoothd has replaced.
        let unpairable = run.record.unpairable
        (run.record, run.kept) = (EnrolmentRecord(), EnrolmentRecord())
        run.record.unpairable = unpairable
        run.save()
        powerOn()
    }

    private func powerOn() {
        guard objects.adapters[adapter]?.isPowered != true else { return makePairable() }
        set("Powered", to: true) { $0.makePairable() }
    }

    private func makePairable() {
        guard objects.adapters[adapter]?.isPairable != true else { return register() }
        if !run.record.unpairable.contains(adapter) { run.record.unpairable.append(adapter) }
        run.save()
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
                enrolment.ask(enrolment.adapter, "org.bluez.GattManager1", "RegisterApplication") {
                    Self.object(EnrolmentObjects.root, in: &$0)
                } then: { enrolment, _ in
                    enrolment.advertise()
                }
            }
        }
    }

    /// An object of ours without options.
    private static func object(_ path: String, in writer: inout BusWriter) {
        writer.path(path)
        writer.container(BusType.array, "{sv}") { _ in }
    }

    private func advertise() {
        let member = "RegisterAdvertisement"
        let message = BusMessage.call(Self.bluez, adapter, "org.bluez.LEAdvertisingManager1", member)
        message?.append { Self.object(EnrolmentObjects.advertisement, in: &$0) }
        bus.call(message) { [weak self] answer in
            guard let self, run.course.state == .preparing else { return }
            guard answer.isError, !answer.isOfNoOwner else {
                return answered(member, answer) { enrolment, _ in enrolment.run.handle(.advertised) }
            }
            advertiseByKernel(because: "bluetoothd refuses \(member): \(answer.errorText)")
        }
    }

    // MARK: After

    func withdraw() {
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
        kernelAdvertisement?.end { [weak self] in self?.advertisementEnded($0) }
        for path in run.record.unpairable {
            bus.call(setting("Pairable", of: path, to: false)) { _ in }
        }
        run.record.unpairable = []
    }

    func finish(_ done: @escaping ([String]) -> Void) {
        guard kernelAdvertisement == nil else {
            // Its end is under way, and has a time limit.
            return finished = { [weak self] in self?.finish(done) }
        }
        bus.close()
        done(left)
    }

    private func advertisementEnded(_ failure: String?) {
        kernelAdvertisement = nil
        if let failure { left.append(failure) } else { run.record.advertisements = [] }
        let finished = finished
        self.finished = nil
        finished?()
    }

    func remove(_ device: String, _ done: @escaping (String?) -> Void) {
        guard let known = objects.devices[device] else { return done(nil) }
        guard !isPairedOtherwise(device) else {
            // A later enrolment must not remove it either.
            leavePairing(of: device)
            run.save()
            return done(nil)
        }
        let message = BusMessage.call(Self.bluez, known.adapter, "org.bluez.Adapter1", "RemoveDevice")
        message?.append { $0.path(device) }
        bus.call(message) { [weak self] answer in
            guard let self else { return }
            guard !answer.isError || answer.errorName.hasSuffix(".DoesNotExist") else {
                return done("\(device): \(answer.errorText)")
            }
            guard let adapter = objects.adapters[known.adapter]?.address, let address = known.address else {
                return done(nil)
            }
            waitUntilGone(device, until: host.now.advanced(by: Self.bondTimeout), done) { storage in
                storage.bond(adapter: adapter, device: address) == nil
            }
        }
    }

    /// BlueZ 5.82 answers `RemoveDevice` at once, and removes the bond's file when the connection has ended. 5.66 does it before.
    private static let bondTimeout = Duration.seconds(8)
    private static let bondInterval = Duration.milliseconds(200)

    private func waitUntilGone(
        _ device: String, until end: MonotonicInstant, _ done: @escaping (String?) -> Void,
        _ isGone: @escaping (any EnrolmentStorage) -> Bool
    ) {
        guard !isGone(run.storage) else { return done(nil) }
        guard host.now < end else {
            return done("\(device): bluetoothd has removed it, and its file is still there")
        }
        _ = host.at(host.now.advanced(by: Self.bondInterval)) { [weak self] in
            self?.waitUntilGone(device, until: end, done, isGone)
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

    private func answered(_ what: String, _ answer: BusMessage, _ next: (BlueZEnrolment, BusMessage) -> Void) {
        guard run.course.state == .preparing else { return }
        guard answer.isError else { return next(self, answer) }
        let isGone = answer.isOfNoOwner
        // Only the first question finds that there is no bluetoothd; later it has ended.
        guard !isGone || !adapter.isEmpty else { return run.giveUp(.withoutBluetoothd) }
        let remedy = BusRefusal.remedy(answer.errorText).map { "; \($0)" } ?? ""
        let refusal = "bluetoothd refuses \(what): \(answer.errorText)\(remedy)"
        run.handle(.failed(isGone ? "bluetoothd has ended" : refusal))
    }

    /// Takes a change of bluetoothd's objects, and tells the course what it means.
    func change(_ path: String, _ change: (inout BluetoothdObjects) -> Void) {
        let before = objects.devices[path]
        change(&objects)
        if path == adapter, objects.adapters[path]?.isPowered == false, run.course.state != .preparing {
            run.handle(.failed("the adapter was switched off"))
        }
        guard !adapter.isEmpty, path.hasPrefix("\(adapter)/") else { return }
        let after = objects.devices[path]
        if before?.isConnected != true, let after, after.isConnected {
            connected(after, wasPaired: before?.isPaired == true)
        }
        if before?.isPaired != true, after?.isPaired == true { run.handle(.paired(path)) }
        if before?.isConnected == true, after?.isConnected != true { run.handle(.disconnected(path)) }
    }

    private func connected(_ device: BluetoothdObjects.Device, wasPaired: Bool) {
        guard let index = objects.adapters[adapter]?.index, let address = device.address,
            isIncoming(index, address) == true
        else { return }
        guard !wasPaired, !device.isTrusted else { return run.say(.known("\(address)")) }
        run.handle(.connected(device.path, address, isIncoming: true))
    }

    /// Whether a device may pair that asks for it.
    func allows(_ path: String) -> Bool {
        guard !adapter.isEmpty, path.hasPrefix("\(adapter)/"), let device = objects.devices[path], !device.isPaired,
            !device.isTrusted, let address = device.address, let index = objects.adapters[adapter]?.index,
            isIncoming(index, address) != false
        else { return false }
        // Where the kernel did not say whose connection it is, the question says it.
        run.handle(.connected(path, address, isIncoming: false))
        return run.course.allows(path)
    }
}
