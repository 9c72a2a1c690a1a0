package import Base
package import Beacon
package import DBus
import Identities
package import KernelScanning
import Scanning

/// Enrols a phone over the kernel's management interface, where bluetoothd does not run: carries out what the course decides,
/// and tells it what happens.
///
/// Bonds, advertisement and settings outlive the program, so all are in the record before they change.
package final class KernelEnrolment: Enrolment, PairingBackend {
    private struct Device {
        /// Under which it connected.
        let address: DeviceAddress
        var identity: DeviceAddress?
        var key: IdentityKey?
        var isConnected = true
    }

    /// What is switched on, in this order, and whether a phone cannot pair without it. Without secure connections whoever
    /// listens can learn the key; some controllers refuse them.
    private static let wanted: [(setting: ControllerSettings, opcode: ManagementCommand.Opcode, isNeeded: Bool)] = [
        (.lowEnergy, .setLowEnergy, true), (.secureSimplePairing, .setSecureSimplePairing, false),
        (.secureConnections, .setSecureConnections, false), (.bondable, .setBondable, true),
        (.powered, .setPowered, true),
    ]
    /// Longer than an enrolment, in seconds.
    private static let advertisingTime: UInt16 = 240
    /// For switching off what was switched on.
    private static let finishTimeout = Duration.seconds(5)

    private let appearance: EnrolmentAppearance
    private let host: any EventHost
    private let channel: any ManagementChannel
    private let bus: (any MessageBus)?
    private let isIncoming: (_ adapter: UInt16, _ device: DeviceAddress) -> Bool?
    private let commands: CommandQueue
    private let run: EnrolmentRun
    private var devices: [String: Device] = [:]
    /// What was changed at the chosen adapter; nil before it is chosen, and if bluetoothd has taken it over.
    private var change: AdapterChange?
    private var adapter = ManagementCommand.noIndex
    private var left: [String] = []
    private var finished: (([String]) -> Void)?

    /// - Parameters:
    ///   - bus: Tells whether bluetoothd starts, nil if there is none. It must be open.
    ///   - isIncoming: Whether the other side has made the connection with this device; nil if nobody knows.
    ///   - onEvent: Called on the loop's thread.
    package init(
        _ appearance: EnrolmentAppearance, host: any EventHost, channel: any ManagementChannel, bus: (any MessageBus)?,
        storage: any EnrolmentStorage, isIncoming: @escaping (_ adapter: UInt16, _ device: DeviceAddress) -> Bool?,
        onEvent: @escaping (EnrolmentEvent) -> Void
    ) {
        (self.appearance, self.host, self.channel, self.bus) = (appearance, host, channel, bus)
        (self.isIncoming, commands) = (isIncoming, CommandQueue(channel))
        run = EnrolmentRun(with: "the kernel", host: host, storage: storage, onEvent: onEvent)
        run.backend = self
    }

    package func start() {
        channel.onMessage = { [weak self] message, _ in self?.receive(message) }
        channel.onFailure = { [weak self] in self?.run.handle(.failed("the management socket failed: \($0)")) }
        bus?.onMessage = { [weak self] in self?.receive($0) }
        bus?.onClosed = nil
        channel.open()
        run.start()
        step(.readIndexList) { enrolment, result in
            // How many, and their numbers.
            let indexes = stride(from: 2, to: result.count - 1, by: 2).map {
                UInt16(result[$0]) | UInt16(result[$0 + 1]) << 8
            }
            enrolment.choose(indexes.sorted()[...])
        }
    }

    package func interrupt() { run.handle(.interrupted) }

    // MARK: Before

    /// Gives a command without which the enrolment cannot go on.
    private func step(
        _ command: ManagementCommand, _ next: @escaping (KernelEnrolment, [UInt8]) -> Void
    ) {
        commands.ask(command) { [weak self] status, result in
            guard let self, run.course.state == .preparing else { return }
            guard status != ManagementStatus.success else { return next(self, result) }
            let advice = command.opcode == .setPowered ? "; if rfkill blocks it: rfkill unblock bluetooth" : ""
            let reason = ManagementStatus.refusal(of: command.opcode, status) + advice
            run.handle(.failed("hci\(command.index): \(reason)"))
        }
    }

    /// Takes the first adapter that may be used and can do it.
    private func choose(_ indexes: ArraySlice<UInt16>) {
        guard let index = indexes.first else {
            return run.handle(
                .failed("there is no Low Energy adapter that the setting 'adapter' allows; see: doctor"))
        }
        step(.readControllerInformation(index)) { enrolment, result in
            guard let information = ControllerInformation(result.span), information.supported.contains(.lowEnergy),
                enrolment.appearance.selection.includes(index: index, address: information.address)
            else { return enrolment.choose(indexes.dropFirst()) }
            enrolment.step(.readAdvertisingFeatures(index)) { enrolment, result in
                guard let free = AdvertisingFeatures(result)?.free.first else {
                    return enrolment.run.handle(
                        .failed("the adapter hci\(index) cannot advertise, or has no room for another advertisement"))
                }
                enrolment.begin(index, information, instance: free)
            }
        }
    }

    private func begin(_ index: UInt16, _ information: ControllerInformation, instance: UInt8) {
        adapter = index
        let former = run.record.changes.first { $0.adapter == index }
        let missing = Self.wanted.map(\.setting).filter {
            information.supported.contains($0) && !information.current.contains($0)
        }
        // What was switched on before is switched off at the end. But an adapter that is on may be in use since then.
        let inherited = (former?.settings ?? []).subtracting([.powered, .lowEnergy])
        let change = AdapterChange(
            adapter: index, settings: inherited.union(ControllerSettings(missing)),
            instance: former?.instance ?? instance)
        save(change)
        guard run.course.state == .preparing else { return }
        self.change = change
        run.kept.changes.removeAll { $0.adapter == index }
        // Of an enrolment that was killed beside a bluetoothd that has ended since.
        for left in run.record.advertisements where left.adapter == index {
            commands.ask(.removeAdvertising(index, instance: left.instance))
        }
        run.record.advertisements.removeAll { $0.adapter == index }
        run.kept.advertisements.removeAll { $0.adapter == index }
        switchOn(Self.wanted.filter { missing.contains($0.setting) }[...])
    }

    private func save(_ change: AdapterChange) {
        run.record.changes.removeAll { $0.adapter == change.adapter }
        run.record.changes.append(change)
        run.save()
    }

    private func switchOn(
        _ settings: ArraySlice<(setting: ControllerSettings, opcode: ManagementCommand.Opcode, isNeeded: Bool)>
    ) {
        guard let (setting, opcode, isNeeded) = settings.first else {
            return removeLeftovers(run.record.devices.filter { $0.hasPrefix(prefix) }[...])
        }
        let command = ManagementCommand(opcode, adapter, [1])
        guard !isNeeded else {
            return step(command) { enrolment, _ in enrolment.switchOn(settings.dropFirst()) }
        }
        commands.ask(command) { [weak self] status, _ in
            guard let self, run.course.state == .preparing else { return }
            if status != ManagementStatus.success { change?.settings.subtract(setting) }
            switchOn(settings.dropFirst())
        }
    }

    private func removeLeftovers(_ leftovers: ArraySlice<String>) {
        guard let device = leftovers.first else { return advertise() }
        unpair(addresses(of: device)[...]) { [weak self] wasPaired, failure in
            guard let self, run.course.state == .preparing else { return }
            if let failure { return run.leftoverStays(failure) }
            run.record.devices.removeAll { $0 == device }
            run.kept.devices.removeAll { $0 == device }
            if wasPaired, let address = addresses(of: device).first { run.say(.removedLeftover("\(address)")) }
            removeLeftovers(leftovers.dropFirst())
        }
    }

    private func advertise() {
        guard let instance = change?.instance else { return }
        // 3: neither screen nor keyboard, because there may be none here.
        step(ManagementCommand(.setInputOutputCapability, adapter, [3])) { enrolment, _ in
            // The kernel asks phones for their key only after a list of keys was loaded. An empty list replaces that of
            // bluetoothd, so this must not happen where it runs.
            enrolment.step(ManagementCommand(.loadIdentityResolvingKeys, enrolment.adapter, [0, 0])) { enrolment, _ in
                let command = ManagementCommand.advertise(
                    enrolment.adapter, instance: instance, enrolment.appearance, seconds: Self.advertisingTime)
                enrolment.step(command) { enrolment, _ in enrolment.run.handle(.advertised) }
            }
        }
    }

    // MARK: The course

    func pair(_ device: String) {
        guard let known = devices[device] else { return }
        // It is answered only when the phone's owner has decided, so it does not wait in the queue.
        try? channel.send(ManagementCommand(.pairDevice, adapter, of: known.address, [3]))
    }

    func key(of device: String) -> IdentityKey? { devices[device]?.key }

    func remove(_ device: String, _ done: @escaping (String?) -> Void) {
        unpair(addresses(of: device)[...]) { [weak self] _, failure in
            if failure == nil { self?.devices[device] = nil }
            done(failure)
        }
    }

    /// Removes the bonds of these addresses up to the first that has one, and disconnects them.
    private func unpair(
        _ addresses: ArraySlice<DeviceAddress>, _ done: @escaping (_ wasPaired: Bool, _ failure: String?) -> Void
    ) {
        guard let address = addresses.first else { return done(false, nil) }
        commands.ask(ManagementCommand(.unpairDevice, adapter, of: address, [1])) { [weak self] status, _ in
            guard let self else { return }
            switch status {
            case ManagementStatus.success: done(true, nil)
            case ManagementStatus.notPaired:
                // It may be connected all the same.
                commands.ask(ManagementCommand(.disconnect, adapter, of: address)) { [weak self] _, _ in
                    self?.unpair(addresses.dropFirst(), done)
                }
            // The adapter was unplugged.
            case ManagementStatus.invalidIndex: done(false, nil)
            default: done(false, "\(address): \(ManagementStatus.name(status))")
            }
        }
    }

    // MARK: After

    func withdraw() {
        guard let change else { return }
        commands.ask(.removeAdvertising(adapter, instance: change.instance)) { [weak self] status, _ in
            // Invalid parameters: there is none yet, or none any more.
            if status != ManagementStatus.invalidParameters { self?.note(status, "the advertisement") }
        }
    }

    func finish(_ done: @escaping ([String]) -> Void) {
        finished = done
        guard let change else { return end() }
        _ = host.at(host.now.advanced(by: Self.finishTimeout)) { [weak self] in
            self?.left.append("hci\(change.adapter): the kernel does not answer")
            self?.end()
        }
        for device in devices.values where device.isConnected {
            commands.ask(ManagementCommand(.disconnect, adapter, of: device.identity ?? device.address))
        }
        for (setting, opcode, _) in Self.wanted.reversed() where change.settings.contains(setting) {
            commands.ask(ManagementCommand(opcode, adapter, [0])) { [weak self] status, _ in
                self?.note(status, "'\(setting.names.joined())' is still on")
            }
        }
        // 1, a screen and two buttons, is what the kernel begins with; it does not tell what it has.
        commands.ask(ManagementCommand(.setInputOutputCapability, adapter, [1]))
        // An empty list lets the kernel forget the connections that it was asked to pair.
        commands.ask(ManagementCommand(.loadConnectionParameters, adapter, [0, 0])) { [weak self] _, _ in self?.end() }
    }

    private func note(_ status: UInt8, _ what: String) {
        guard status != ManagementStatus.success, status != ManagementStatus.invalidIndex else { return }
        left.append("hci\(adapter): \(what): \(ManagementStatus.name(status))")
    }

    private func end() {
        guard let finished else { return }
        self.finished = nil
        channel.close()
        bus?.close()
        finished(left)
    }

    // MARK: The kernel

    private func receive(_ message: Span<UInt8>) {
        guard let header = ManagementHeader(message) else { return }
        let parameters = message.extracting(ManagementHeader.length...)
        switch header.code {
        case ManagementEvent.Code.commandComplete, ManagementEvent.Code.commandStatus:
            guard parameters.count >= 3 else { return }
            let result = (3..<parameters.count).map { parameters[$0] }
            answered(UInt16(parameters[0]) | UInt16(parameters[1]) << 8, status: parameters[2], result)
        case ManagementEvent.Code.indexRemoved where header.index == adapter:
            run.handle(.failed("the adapter was unplugged"))
        case ManagementEvent.Code.newSettings where header.index == adapter && run.course.state != .preparing:
            guard case .newSettings(let settings)? = ManagementEvent(code: header.code, parameters: parameters),
                !settings.contains(.powered)
            else { return }
            run.handle(.failed("the adapter was switched off"))
        default:
            guard header.index == adapter, let event = PairingEvent(code: header.code, parameters: parameters) else {
                return
            }
            take(event)
        }
    }

    private func answered(_ opcode: UInt16, status: UInt8, _ result: [UInt8]) {
        guard opcode == ManagementCommand.Opcode.pairDevice.rawValue else {
            return commands.answered(opcode, status: status, result)
        }
        // The phone may pair by itself at the same time. Success comes with a key.
        let isUnderWay = [
            ManagementStatus.success, ManagementStatus.busy, ManagementStatus.alreadyConnected,
            ManagementStatus.alreadyPaired,
        ].contains(status)
        guard !isUnderWay, result.count >= 7,
            let address = DeviceAddress(littleEndian: result.span, at: 0, isRandom: result[6] == 2)
        else { return }
        run.handle(.refused(name(of: address), reason: ManagementStatus.name(status)))
    }

    private func take(_ event: PairingEvent) {
        switch event {
        case .connected(let address):
            guard isIncoming(adapter, address) == true else { return }
            let device = meet(address)
            devices[device]?.isConnected = true
            run.handle(.connected(device, address, isIncoming: true))
        case .disconnected(let address):
            let device = name(of: address)
            devices[device]?.isConnected = false
            // Devices without an identity are found by their name.
            if devices[device]?.identity == nil { devices[device] = nil }
            run.handle(.disconnected(device))
        case .question(let address):
            // Of a connection that another program has made, that program is asked, too.
            guard let device = admit(address) else { return }
            let isAllowed = run.course.allows(device)
            try? channel.send(
                ManagementCommand(
                    isAllowed ? .userConfirmationReply : .userConfirmationNegativeReply, adapter, of: address))
        case .failed(let address, let status):
            run.handle(.refused(name(of: address), reason: ManagementStatus.name(status)))
        case .identity(of: let address, let identity, let key):
            let device = name(of: address)
            guard devices[device] != nil else { return }
            devices[device]?.identity = identity
            devices[device]?.key = key
            // The kernel has the bond under this address.
            run.record.devices.append(path(identity))
            run.save()
        case .paired(let address):
            guard let device = admit(address) else { return }
            run.handle(.paired(device))
        }
    }

    /// The device, unless this machine has made the connection.
    private func admit(_ address: DeviceAddress) -> String? {
        guard isIncoming(adapter, address) != false else { return nil }
        let device = meet(address)
        // Where the kernel did not say whose connection it is, the question says it.
        run.handle(.connected(device, devices[device]?.address ?? address, isIncoming: false))
        return device
    }

    private func meet(_ address: DeviceAddress) -> String {
        let device = name(of: address)
        if devices[device] == nil { devices[device] = Device(address: address) }
        return device
    }

    // MARK: Names

    private var prefix: String { "/kernel/hci\(adapter)/" }

    private func path(_ address: DeviceAddress) -> String {
        "\(prefix)dev_" + "\(address)".split(separator: ":").joined(separator: "_")
    }

    /// The name of a device, under whichever of its addresses.
    private func name(of address: DeviceAddress) -> String {
        devices.first { $1.address == address || $1.identity == address }?.key ?? path(address)
    }

    /// The address of a device's bond. A name alone does not tell its kind.
    private func addresses(of device: String) -> [DeviceAddress] {
        if let known = devices[device] { return [known.identity ?? known.address] }
        guard let address = BluetoothdObjects.address(in: device) else { return [] }
        return [address, DeviceAddress(value: address.value, isRandom: false)]
    }

    /// Takes a signal of the bus: bluetoothd has started. It replaces all keys and settings by its own.
    private func receive(_ message: BusMessage) {
        guard message.isSignal, message.member == "NameOwnerChanged" else { return }
        var reader = message.reader
        reader.next()
        reader.next()
        guard let owner = reader.string, !owner.isEmpty else { return }
        change = nil
        run.handle(.failed("bluetoothd has started, which pairs itself; run the command again"))
    }
}
