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
    private static let properties = "org.freedesktop.DBus.Properties"
    private static let objectManager = "org.freedesktop.DBus.ObjectManager"
    private static let retryDelay = Duration.seconds(2)
    private static let reconnectionDelay = Duration.seconds(5)
    /// bluetoothd pauses its discovery for up to 5 s between rounds.
    private static let longestDiscoveryPause = Duration.seconds(8)
    /// bluetoothd reports when a device is found and lost, and its RSSI only after large changes. In between, the
    /// scanner counts one report a second.
    private static let vouchingInterval = Duration.seconds(1)

    private let host: any EventHost
    private weak var output: (any ScannerOutput)?
    private let selection: AdapterSelection
    private let makeBus: () throws(ScannerError) -> any MessageBus
    private var bus: (any MessageBus)?
    private var byPath: [String: BlueZAdapter] = [:]
    private var devices: [String: KnownDevice] = [:]
    private var timer: (any EventRegistration)?
    private var hasReportedLimits: Set<BlueZAdapter.Way> = []
    private var saidAbsent = false
    private var nextConnection = MonotonicInstant.zero

    package convenience init(selection: AdapterSelection = .all, host: any EventHost, output: any ScannerOutput) {
        self.init(selection: selection, host: host, output: output) { () throws(ScannerError) in
            return try mapError({ ScannerError(.unavailable, $0.description) }) { () throws(BusError) in
                try BusConnection(to: BlueZScanner.service, host: host)
            }
        }
    }

    /// - Parameter makeBus: connects to the bus; called again after the connection was lost.
    init(
        selection: AdapterSelection, host: any EventHost, output: any ScannerOutput,
        makeBus: @escaping () throws(ScannerError) -> any MessageBus
    ) {
        self.selection = selection
        self.host = host
        self.output = output
        self.makeBus = makeBus
    }

    package var adapters: [AdapterStatus] {
        byPath.values.map(\.status).sorted { $0.receiver.index < $1.receiver.index }
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
            if adapter.way == .discovery { bus?.send(call(adapter.path, "org.bluez.Adapter1", "StopDiscovery")) }
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
        forget(because: "\(bus?.problem ?? .gone)")
        // No adapter says it where none was found.
        if byPath.isEmpty { absent(because: "\(bus?.problem ?? .gone)") }
        bus = nil
    }

    private func call(_ path: String, _ interface: String, _ member: String) -> BusMessage? {
        BusMessage.call(Self.service, path, interface, member)
    }

    /// Requests all objects of bluetoothd.
    private func look() {
        bus?.call(call("/", Self.objectManager, "GetManagedObjects")) { [weak self] answer in
            guard let self else { return }
            guard !answer.isError else { return absent(answer) }
            saidAbsent = false
            answer.reader.forEach { element in
                guard var object = element.inside, let path = object.string else { return }
                object.next()
                self.met(path, object, isNew: false)
            }
        }
    }

    private func absent(_ answer: BusMessage) {
        let isGone = answer.errorName.hasSuffix("NameHasNoOwner") || answer.errorName.hasSuffix("ServiceUnknown")
        let reason = isGone ? "bluetoothd is not running; start it: sudo systemctl start bluetooth" : answer.errorText
        absent(because: reason)
    }

    private func absent(because reason: String) {
        if !saidAbsent { output?.notice(Notice(.warning, "bluez: \(reason)")) }
        saidAbsent = true
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
            if reader.string == "" { forget(because: "bluetoothd is gone") } else { look() }
        default: break
        }
    }

    private func forget(because reason: String) {
        for adapter in byPath.values {
            adapter.retry?.cancel()
            adapter.way = nil
            adapter.isPowered = false
            adapter.monitorFailed = false
            adapter.isReleased = false
            adapter.offersMonitor = false
            reportListening(adapter, false, because: reason)
        }
        devices = [:]
    }

    // MARK: Objects

    private func met(_ path: String, _ interfaces: BusReader, isNew: Bool) {
        var offersMonitor = false
        interfaces.forEachEntry { name, properties in
            switch name {
            case "org.bluez.Adapter1":
                guard let adapter = byPath[path] ?? BlueZAdapter(path: path) else { return }
                adapter.update(properties)
                // The number of an adapter that was unplugged may be that of another one now.
                byPath[path] = adapter.isChosen(by: selection) ? adapter : nil
            case "org.bluez.AdvertisementMonitorManager1": offersMonitor = true
            case "org.bluez.Device1":
                var device = devices[path] ?? KnownDevice()
                // Devices that bluetoothd remembers may not be near now.
                let isHeard = device.update(properties)
                devices[path] = device
                if isNew && isHeard { report(device, path) }
            default: break
            }
        }
        // The manager may come before or after the adapter in one message, so this waits for both.
        guard let adapter = byPath[path] else { return }
        if offersMonitor { adapter.offersMonitor = true }
        begin(adapter)
    }

    private func removed(_ reader: BusReader) {
        var reader = reader
        guard let path = reader.string else { return }
        reader.next()
        var interfaces: [String] = []
        reader.forEach { if let name = $0.string { interfaces.append(name) } }
        if interfaces.contains("org.bluez.Device1") { devices[path] = nil }
        guard interfaces.contains("org.bluez.Adapter1"), let adapter = byPath[path] else { return }
        adapter.retry?.cancel()
        adapter.way = nil
        adapter.isPowered = false
        reportListening(adapter, false, because: "unplugged")
    }

    private func changed(_ message: BusMessage) {
        var reader = message.reader
        let interface = reader.string
        reader.next()
        if interface == "org.bluez.Device1" {
            guard var device = devices[message.path] else { return }
            let isHeard = device.update(reader)
            devices[message.path] = device
            if isHeard { report(device, message.path) }
        } else if interface == "org.bluez.Adapter1", let adapter = byPath[message.path] {
            let wasPowered = adapter.isPowered
            adapter.update(reader)
            if wasPowered && !adapter.isPowered {
                adapter.way = nil
                reportListening(adapter, false, because: "powered off")
            }
            if adapter.way == .discovery { watchDiscovery(adapter) }
            begin(adapter)
        }
    }

    // MARK: Listening

    private func begin(_ adapter: BlueZAdapter) {
        guard adapter.way == nil else { return }
        guard adapter.isPowered else { return powerOn(adapter) }
        if adapter.offersMonitor && !adapter.monitorFailed {
            adapter.way = .monitor
            let message = call(adapter.path, "org.bluez.AdvertisementMonitorManager1", "RegisterMonitor")
            message?.append { $0.path(BeaconMonitorObject.root(of: adapter)) }
            ask(adapter, message) { scanner, adapter, answer in
                // bluetoothd calls Activate on success.
                guard answer.isError else {
                    adapter.isReleased = false
                    return
                }
                // bluetoothd keeps the monitor while the adapter is off, and does not call Activate again.
                if answer.errorName.hasSuffix(".AlreadyExists"), !adapter.isReleased {
                    guard adapter.way == .monitor else { return }
                    return scanner.reportListening(adapter, true, because: "advertisement monitor of bluetoothd")
                }
                adapter.monitorFailed = true
                adapter.way = nil
                scanner.notice(adapter, .info, "no advertisement monitor: \(answer.errorText)")
                scanner.begin(adapter)
            }
        } else {
            adapter.way = .discovery
            discover(adapter)
        }
    }

    private func discover(_ adapter: BlueZAdapter) {
        let filter = call(adapter.path, "org.bluez.Adapter1", "SetDiscoveryFilter")
        filter?.append { writer in
            writer.container(BusType.array, "{sv}") { entries in
                entries.property("Transport", "s") { $0.string("le") }
                entries.property("DuplicateData", "b") { $0.boolean(true) }
            }
        }
        ask(adapter, filter) { scanner, adapter, answer in
            if answer.isError { scanner.notice(adapter, .warning, "no discovery filter: \(answer.errorText)") }
        }
        ask(adapter, call(adapter.path, "org.bluez.Adapter1", "StartDiscovery")) { scanner, adapter, answer in
            guard answer.isError, !answer.errorName.hasSuffix("InProgress") else {
                return scanner.reportListening(adapter, true, because: "discovery by bluetoothd")
            }
            adapter.way = nil
            scanner.reportListening(adapter, false, because: "no discovery")
            scanner.notice(adapter, .warning, "no discovery: \(answer.errorText); trying again")
            scanner.again(adapter)
        }
    }

    /// The discovery may end for other reasons (a reset of the adapter). Then it is started again.
    private func watchDiscovery(_ adapter: BlueZAdapter) {
        adapter.retry?.cancel()
        adapter.retry = nil
        guard !adapter.isDiscovering else { return }
        adapter.retry = host.at(host.now.advanced(by: Self.longestDiscoveryPause)) { [weak self, weak adapter] in
            guard let self, let adapter, adapter.way == .discovery, !adapter.isDiscovering else { return }
            reportListening(adapter, false, because: "the discovery ended")
            adapter.way = nil
            begin(adapter)
        }
    }

    private func powerOn(_ adapter: BlueZAdapter) {
        let message = call(adapter.path, Self.properties, "Set")
        message?.append { writer in
            writer.string("org.bluez.Adapter1")
            writer.string("Powered")
            writer.container(BusType.variant, "b") { $0.boolean(true) }
        }
        ask(adapter, message) { scanner, adapter, answer in
            // PropertiesChanged reports success.
            if answer.isError { scanner.again(adapter) }
        }
    }

    private func ask(
        _ adapter: BlueZAdapter, _ message: BusMessage?,
        _ answered: @escaping (BlueZScanner, BlueZAdapter, BusMessage) -> Void
    ) {
        bus?.call(message) { [weak self, weak adapter] answer in
            guard let self, let adapter else { return }
            answered(self, adapter, answer)
        }
    }

    private func again(_ adapter: BlueZAdapter) {
        adapter.retry?.cancel()
        adapter.retry = host.at(host.now.advanced(by: Self.retryDelay)) { [weak self, weak adapter] in
            guard let self, let adapter else { return }
            begin(adapter)
        }
    }

    private func reportListening(_ adapter: BlueZAdapter, _ listening: Bool, because reason: String) {
        // That it does not listen is reported at first, too: presence may remember the adapter from an earlier run.
        guard adapter.status.isListening != listening || !adapter.hasReported else { return }
        adapter.hasReported = true
        adapter.status.isListening = listening
        if listening {
            if adapter.hasListened { adapter.status.restarts += 1 }
            adapter.hasListened = true
            reportLimits(adapter)
        }
        let reason = "\(adapter.status.name): \(reason)"
        output?.listening(listening, of: adapter.status.receiver, at: host.now, because: reason)
    }

    private func reportLimits(_ adapter: BlueZAdapter) {
        guard let way = adapter.way, hasReportedLimits.insert(way).inserted else { return }
        notice(adapter, .warning, way.limits)
    }

    private func notice(_ adapter: BlueZAdapter, _ priority: LogPriority, _ text: String) {
        output?.notice(Notice(priority, "\(adapter.status.name): \(text)"))
    }

    // MARK: Reports

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
        if bus == nil, host.now >= nextConnection {
            nextConnection = host.now.advanced(by: Self.reconnectionDelay)
            try? connect()
        }
        timer = host.at(host.now.advanced(by: Self.vouchingInterval)) { [weak self] in self?.tick() }
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
            if let adapter = adapter(ofMonitor: path), adapter.way == .monitor {
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
        guard adapter.way == .monitor else { return }
        adapter.way = nil
        reportListening(adapter, false, because: "bluetoothd gave up the advertisement monitor")
        again(adapter)
    }
}
