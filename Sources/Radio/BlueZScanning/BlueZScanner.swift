package import Base
import Beacon
import DBus
package import Scanning

/// Scans through bluetoothd, which needs no privilege and delivers fewer reports.
///
/// If bluetoothd offers an advertisement monitor, it is used; otherwise a discovery. A discovery requests that the
/// duplicate filter is off, which the kernel ignores (see Docs/scanning.md).
package final class BlueZScanner: Scanner {
    private static let service = "org.bluez"
    static let properties = "org.freedesktop.DBus.Properties"
    private static let objectManager = "org.freedesktop.DBus.ObjectManager"
    private static let reconnectionDelay = Duration.seconds(5)
    /// bluetoothd reports when a device is found and lost, and its RSSI only after large changes. In between, the
    /// scanner counts one report a second.
    private static let vouchingInterval = Duration.seconds(1)

    let host: any EventHost
    private(set) weak var output: (any ScannerOutput)?
    private let selection: AdapterSelection
    private let isBlocked: (_ adapter: UInt16) -> Bool
    private let makeBus: () throws(ScannerError) -> any MessageBus
    private(set) var bus: (any MessageBus)?
    private var byPath: [String: BlueZAdapter] = [:]
    /// What bluetoothd shows and the selection does not include.
    private var others: [String: PresentAdapter] = [:]
    private var devices: [String: KnownDevice] = [:]
    private var timer: (any EventRegistration)?
    private var hasReportedLimits: Set<BlueZAdapter.ScanMethod> = []
    /// Why no adapter can be used, as last logged.
    private var absence: ScanProblem?
    private var nextConnection = MonotonicInstant.zero
    /// When bluetoothd is asked once more for its objects; nil: it has told them, or was not asked yet.
    private var nextLook: MonotonicInstant?

    /// - Parameter isBlocked: Whether rfkill forbids the radio of an adapter.
    package convenience init(
        selection: AdapterSelection = .all, host: any EventHost, output: any ScannerOutput,
        isBlocked: @escaping (_ adapter: UInt16) -> Bool
    ) {
        self.init(selection: selection, host: host, output: output, isBlocked: isBlocked) { () throws(ScannerError) in
            return try mapError({ ScannerError(.unavailable, $0.description) }) { () throws(BusError) in
                try BusConnection(to: BlueZScanner.service, host: host)
            }
        }
    }

    /// - Parameter makeBus: connects to the bus; called again after the connection was lost.
    init(
        selection: AdapterSelection, host: any EventHost, output: any ScannerOutput,
        isBlocked: @escaping (_ adapter: UInt16) -> Bool = { _ in false },
        makeBus: @escaping () throws(ScannerError) -> any MessageBus
    ) {
        self.selection = selection
        self.host = host
        self.output = output
        self.isBlocked = isBlocked
        self.makeBus = makeBus
    }

    package var adapters: [AdapterStatus] {
        byPath.values.map(\.status).sorted { $0.receiver.index < $1.receiver.index }
    }

    /// Why no adapter listens, as far as that is known.
    package var problem: ScanProblem? {
        guard !byPath.values.contains(where: \.status.isListening) else { return nil }
        let said = byPath.values.filter { $0.isThere && $0.said != nil }
        return absence ?? said.min { $0.status.receiver.index < $1.status.receiver.index }?.said
    }

    package func start() throws(ScannerError) {
        try connect()
        tick()
    }

    package func stop() {
        timer?.cancel()
        timer = nil
        for adapter in byPath.values {
            adapter.retry?.cancel()
            if adapter.method == .discovery { bus?.send(call(adapter.path, "org.bluez.Adapter1", "StopDiscovery")) }
            reportListening(adapter, false, because: "stopped")
        }
        // bluetoothd ends the gateway's monitor or discovery when the connection ends.
        bus?.close()
        bus = nil
    }

    // MARK: The bus

    private func connect() throws(ScannerError) {
        let bus = try makeBus()
        self.bus = bus
        bus.onMessage = { [weak self] in self?.receive($0) }
        bus.onClosed = { [weak self] in self?.lostBus() }
        bus.match("type='signal',sender='org.bluez',interface='\(Self.properties)'")
        bus.match("type='signal',sender='org.bluez',interface='\(Self.objectManager)'")
        bus.open()
        look()
    }

    private func lostBus() {
        let problem = bus?.problem ?? .gone
        nextLook = nil
        forget(because: "\(problem)")
        let found = ScanProblem("\(problem)", remedy: "it is tried again")
        // No adapter says it where none was found.
        if byPath.isEmpty { say(absence: found) } else { absence = found }
        bus = nil
    }

    func call(_ path: String, _ interface: String, _ member: String) -> BusMessage? {
        BusMessage.call(Self.service, path, interface, member)
    }

    /// Requests all objects of bluetoothd.
    private func look() {
        nextLook = nil
        bus?.call(call("/", Self.objectManager, "GetManagedObjects")) { [weak self] answer in
            guard let self else { return }
            guard !answer.isError else { return absent(answer) }
            answer.reader.forEach { element in
                guard var object = element.inside, let path = object.string else { return }
                object.next()
                self.met(path, object, isNew: false)
            }
            lookForAbsence()
        }
    }

    private func absent(_ answer: BusMessage) {
        // The bus tells when bluetoothd starts, but nobody tells when a policy lets this user ask.
        if !answer.isOfNoOwner { nextLook = host.now.advanced(by: Self.reconnectionDelay) }
        say(absence: answer.isOfNoOwner ? .bluetoothdIsNotRunning : ScanProblem(silenceOfBluetoothd: answer))
    }

    /// Says why no adapter of bluetoothd can be used, if none can.
    private func lookForAbsence() {
        guard !byPath.values.contains(where: \.isThere) else {
            absence = nil
            return
        }
        let present = others.values.sorted { $0.index < $1.index }
        guard let problem = selection.problem(among: present) else { return }
        say(absence: problem)
    }

    private func say(absence problem: ScanProblem) {
        guard problem != absence else { return }
        absence = problem
        output?.notice(Notice(.warning, "bluez: \(problem)"))
    }

    private func receive(_ message: BusMessage) {
        if message.isCall { return serve(message) }
        guard message.isSignal else { return }
        switch message.member {
        case "InterfacesAdded":
            var reader = message.reader
            guard let path = reader.string else { return }
            reader.next()
            met(path, reader, isNew: true)
        case "InterfacesRemoved": removed(message.reader)
        case "PropertiesChanged": changed(message)
        case "NameOwnerChanged":
            var reader = message.reader
            reader.next()
            reader.next()
            // The new owner; empty if the service has ended.
            guard reader.string == "" else { return look() }
            forget(because: "bluetoothd is gone")
            // It may be restarting, and the log has the line above.
            absence = .bluetoothdIsNotRunning
        default: break
        }
    }

    private func forget(because reason: String) {
        for adapter in byPath.values {
            adapter.forgetBluetoothd()
            reportListening(adapter, false, because: reason)
        }
        others = [:]
        devices = [:]
    }

    // MARK: Objects

    private func met(_ path: String, _ interfaces: BusReader, isNew: Bool) {
        var offersMonitor = false
        interfaces.forEachEntry { name, properties in
            switch name {
            case "org.bluez.Adapter1":
                guard let adapter = byPath[path] ?? BlueZAdapter(path: path) else { return }
                adapter.isThere = true
                let isDiscovering = adapter.update(properties)
                // The number of an adapter that was unplugged may be that of another one now.
                let isChosen = adapter.isChosen(by: selection)
                byPath[path] = isChosen ? adapter : nil
                others[path] = isChosen ? nil : adapter.present
                if isChosen, let isDiscovering {
                    carryOut(adapter.discovery.discovers(isDiscovering, at: host.now), adapter)
                }
            case "org.bluez.AdvertisementMonitorManager1": offersMonitor = true
            case "org.bluez.Device1":
                var device = devices[path] ?? KnownDevice()
                // Devices that bluetoothd remembers may not be near now.
                let isHeard = device.update(properties)
                devices[path] = device
                if isNew && isHeard { heard(device, path) }
            default: break
            }
        }
        // The manager may come before or after the adapter in one message, so this waits for both.
        guard let adapter = byPath[path], adapter.isThere else { return }
        if offersMonitor { adapter.offersMonitor = true }
        absence = nil
        begin(adapter)
    }

    private func removed(_ reader: BusReader) {
        var reader = reader
        guard let path = reader.string else { return }
        reader.next()
        var interfaces: [String] = []
        reader.forEach { if let name = $0.string { interfaces.append(name) } }
        if interfaces.contains("org.bluez.Device1") { devices[path] = nil }
        guard interfaces.contains("org.bluez.Adapter1") else { return }
        others[path] = nil
        guard let adapter = byPath[path] else { return }
        adapter.forgetRequests()
        adapter.isThere = false
        adapter.hasAskedForDiscovery = false
        reportListening(adapter, false, because: "unplugged")
        lookForAbsence()
    }

    private func changed(_ message: BusMessage) {
        var reader = message.reader
        let interface = reader.string
        reader.next()
        if interface == "org.bluez.Device1" {
            guard var device = devices[message.path] else { return }
            let isHeard = device.update(reader)
            devices[message.path] = device
            if isHeard { heard(device, message.path) }
        } else if interface == "org.bluez.Adapter1", let adapter = byPath[message.path] {
            let wasPowered = adapter.isPowered
            let isDiscovering = adapter.update(reader)
            if wasPowered && !adapter.isPowered {
                adapter.forgetRequests()
                reportListening(adapter, false, because: "powered off")
            }
            // While a failed attempt waits for the next one, no other change is a reason to try at once.
            let isNews = adapter.isPowered != wasPowered || adapter.retry == nil
            if let isDiscovering { carryOut(adapter.discovery.discovers(isDiscovering, at: host.now), adapter) }
            if isNews, adapter.isThere { begin(adapter) }
        }
    }

    // MARK: Reports

    /// Tells once what is lost by an adapter's scan method.
    func reportLimits(_ adapter: BlueZAdapter) {
        guard let method = adapter.method, hasReportedLimits.insert(method).inserted else { return }
        notice(adapter, .warning, method.limits)
    }

    func isBlocked(_ adapter: BlueZAdapter) -> Bool { adapter.isBlocked || isBlocked(adapter.status.receiver.index) }

    /// bluetoothd has reported a device, of whatever kind.
    private func heard(_ device: KnownDevice, _ path: String) {
        adapter(of: path)?.discovery.heard(at: host.now)
        report(device, path)
    }

    private func report(_ device: KnownDevice, _ path: String) {
        // What comes while the adapter does not listen belongs to another program's discovery, which may end unnoticed at any time.
        guard let address = device.address, let adapter = adapter(of: path), adapter.status.isListening else { return }
        let packets = device.serviceData + (device.advertisingData.isEmpty ? [] : [device.advertisingData])
        guard !packets.isEmpty else { return }
        let now = host.now
        adapter.status.reports += 1
        adapter.status.lastHeard = now
        let report = AdvertisingReport(address: address, rssi: device.rssi)
        // Telemetry is sent between two iBeacons, so it is reported before the iBeacon.
        for packet in packets { output?.heard(report, data: packet.span, by: adapter.status.receiver, at: now) }
    }

    /// `/org/bluez/hci0/dev_…` belongs to `/org/bluez/hci0`.
    private func adapter(of path: String) -> BlueZAdapter? {
        guard let slash = path.lastIndex(of: "/") else { return nil }
        return byPath[String(path[..<slash])]
    }

    private func tick() {
        for (path, device) in devices where device.isReportedPresent { report(device, path) }
        for adapter in byPath.values { carryOut(adapter.discovery.tick(at: host.now), adapter) }
        if bus == nil, host.now >= nextConnection {
            nextConnection = host.now.advanced(by: Self.reconnectionDelay)
            try? connect()
        }
        if let due = nextLook, host.now >= due { look() }
        if bus?.isStalled == true { stalls() } else if absence == .bluetoothdDoesNotAnswer { absence = nil }
        timer = host.at(host.now.advanced(by: Self.vouchingInterval)) { [weak self] in self?.tick() }
    }

    private func stalls() {
        say(absence: .bluetoothdDoesNotAnswer)
        // What was asked for anew counted as on until the answer.
        for adapter in byPath.values where adapter.isInDoubt { reportListening(adapter, false, because: "no answer") }
    }

    /// Answers bluetoothd's calls to the monitor objects.
    private func serve(_ message: BusMessage) {
        let path = message.path
        switch (message.interface, message.member) {
        case (Self.objectManager, "GetManagedObjects"):
            guard let adapter = byPath.values.first(where: { BeaconMonitorObject.root(of: $0) == path }) else {
                return bus?.send(message.error("org.freedesktop.DBus.Error.UnknownObject", "no such object")) ?? ()
            }
            let reply = message.reply()
            reply.map { BeaconMonitorObject.describe(adapter, in: $0) }
            return bus?.send(reply) ?? ()
        case (BeaconMonitorObject.interface, "Activate"):
            if let adapter = adapter(ofMonitor: path), adapter.method == .monitor {
                reportListening(adapter, true, because: "advertisement monitor of bluetoothd")
            }
        case (BeaconMonitorObject.interface, "Release"): adapter(ofMonitor: path).map(released)
        case (BeaconMonitorObject.interface, "DeviceFound"), (BeaconMonitorObject.interface, "DeviceLost"):
            if let path = message.reader.string {
                devices[path, default: KnownDevice()].isReportedPresent = message.member == "DeviceFound"
            }
        default:
            return bus?.send(message.error("org.freedesktop.DBus.Error.UnknownMethod", "no such method")) ?? ()
        }
        bus?.send(message.reply())
    }

    private func adapter(ofMonitor path: String) -> BlueZAdapter? {
        byPath.values.first { BeaconMonitorObject.path(of: $0) == path }
    }

    private func released(_ adapter: BlueZAdapter) {
        adapter.isReleased = true
        // bluetoothd reports as lost only what an active monitor found.
        for path in devices.keys where path.hasPrefix("\(adapter.path)/") { devices[path]?.isReportedPresent = false }
        guard adapter.method == .monitor else { return }
        adapter.method = nil
        reportListening(adapter, false, because: "bluetoothd gave up the advertisement monitor")
        again(adapter, after: Self.retryDelay)
    }
}
