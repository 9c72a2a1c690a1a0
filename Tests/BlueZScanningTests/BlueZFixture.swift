import Base
import Beacon
import DBus
import DBusSupport
import HostSupport
import Scanning

@testable import BlueZScanning

/// bluetoothd as its messages show it, and what the scanner makes of it.
final class BlueZFixture: ScannerOutput {
    let host = ManualHost()
    /// The newest connection.
    private(set) var bus = ScriptedBus()
    private(set) var connections = 0
    var hasBus = true
    /// Whether rfkill forbids the radio of every adapter.
    var isBlocked = false
    private(set) var events: [String] = []
    private(set) var notices: [String] = []
    private(set) var strengths: [Int8?] = []
    private(set) var data: [[UInt8]] = []

    func makeScanner(selection: AdapterSelection = .all) -> BlueZScanner {
        BlueZScanner(
            selection: selection, host: host, output: self, isBlocked: { [unowned self] _ in isBlocked }
        ) { [unowned self] () throws(ScannerError) in
            guard hasBus else { throw ScannerError(.unavailable, "no bus") }
            connections += 1
            bus = ScriptedBus()
            return bus
        }
    }

    func heard(_ report: AdvertisingReport, data: Span<UInt8>, by receiver: Receiver, at instant: MonotonicInstant) {
        events.append("\(receiver.index) heard")
        strengths.append(report.rssi?.dBm)
        self.data.append(data.indices.map { data[$0] })
    }
    func listening(_ isListening: Bool, of receiver: Receiver, at instant: MonotonicInstant, because reason: String) {
        events.append("\(receiver.index) \(isListening ? "listens" : "is deaf")")
    }
    func notice(_ notice: Notice) { notices.append(notice.text) }
    func finished(at instant: MonotonicInstant) {}

    func drainEvents() -> [String] {
        defer { events = [] }
        return events
    }

    /// The answer to GetManagedObjects: these adapters.
    ///
    /// - Parameter isManagerFirst: whether the manager of monitors comes before the adapter's own properties.
    func shows(adapters: [Int], isPowered: Bool = true, offersMonitor: Bool, isManagerFirst: Bool = false) {
        bus.answer("GetManagedObjects") { writer in
            writer.container(BusType.array, "{oa{sa{sv}}}") { objects in
                for number in adapters {
                    objects.container(BusType.dictionaryEntry, nil) { object in
                        object.path("/org/bluez/hci\(number)")
                        Self.adapter(&object, isPowered, offersMonitor, isManagerFirst)
                    }
                }
            }
        }
    }

    private static func adapter(
        _ writer: inout BusWriter, _ isPowered: Bool, _ offersMonitor: Bool, _ isManagerFirst: Bool
    ) {
        writer.container(BusType.array, "{sa{sv}}") { interfaces in
            if offersMonitor, isManagerFirst { manager(&interfaces) }
            interfaces.container(BusType.dictionaryEntry, nil) { entry in
                entry.string("org.bluez.Adapter1")
                entry.container(BusType.array, "{sv}") { properties in
                    properties.property("Address", "s") { $0.string("AA:00:00:00:00:01") }
                    properties.property("Powered", "b") { $0.boolean(isPowered) }
                }
            }
            if offersMonitor, !isManagerFirst { manager(&interfaces) }
        }
    }

    private static func manager(_ interfaces: inout BusWriter) {
        interfaces.container(BusType.dictionaryEntry, nil) { entry in
            entry.string("org.bluez.AdvertisementMonitorManager1")
            entry.container(BusType.array, "{sv}") { _ in }
        }
    }

    /// bluetoothd grants the discovery of adapter 0, and it is on.
    func discovers() {
        bus.answer("SetDiscoveryFilter")
        bus.answer("StartDiscovery")
        changes(0, "Discovering", true)
    }

    /// InterfacesRemoved: the adapter is unplugged.
    func removes(adapter: Int) {
        bus.signal("/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved") { writer in
            writer.path("/org/bluez/hci\(adapter)")
            writer.container(BusType.array, "s") { $0.string("org.bluez.Adapter1") }
        }
    }

    /// PropertiesChanged of an adapter, for one truth value.
    func changes(_ adapter: Int, _ name: String, _ value: Bool) {
        changed("/org/bluez/hci\(adapter)", "org.bluez.Adapter1") { $0.property(name, "b") { $0.boolean(value) } }
    }

    func changed(_ path: String, _ interface: String, _ body: (inout BusWriter) -> Void) {
        bus.signal(path, "org.freedesktop.DBus.Properties", "PropertiesChanged") { writer in
            writer.string(interface)
            writer.container(BusType.array, "{sv}", body)
            writer.container(BusType.array, "s") { _ in }
        }
    }

    /// InterfacesAdded for a device with an iBeacon's first octets.
    func adds(device: String, rssi: Int16? = -60) {
        bus.signal("/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded") { writer in
            writer.path(device)
            writer.container(BusType.array, "{sa{sv}}") { interfaces in
                interfaces.container(BusType.dictionaryEntry, nil) { entry in
                    entry.string("org.bluez.Device1")
                    entry.container(BusType.array, "{sv}") { properties in
                        properties.property("Address", "s") { $0.string("C0:00:00:00:00:0A") }
                        properties.property("AddressType", "s") { $0.string("random") }
                        if let rssi { properties.property("RSSI", "n") { $0.int16(rssi) } }
                        properties.property("ManufacturerData", "a{qv}") { value in
                            value.container(BusType.array, "{qv}") { companies in
                                companies.container(BusType.dictionaryEntry, nil) { company in
                                    company.uint16(0x004c)
                                    company.container(BusType.variant, "ay") { content in
                                        content.container(BusType.array, "y") { bytes in
                                            for byte: UInt8 in [0x02, 0x15, 7] { bytes.byte(byte) }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// PropertiesChanged of a device, for the data of one service.
    func changes(_ device: String, service: String, _ data: [UInt8]) {
        changed(device, "org.bluez.Device1") { properties in
            properties.property("ServiceData", "a{sv}") { value in
                value.container(BusType.array, "{sv}") { services in
                    services.property(service, "ay") { content in
                        content.container(BusType.array, "y") { bytes in for byte in data { bytes.byte(byte) } }
                    }
                }
            }
        }
    }

    /// NameOwnerChanged: bluetoothd has ended, or begun.
    func bluetoothd(isRunning: Bool) {
        bus.signal("/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged") { writer in
            writer.string("org.bluez")
            writer.string(isRunning ? "" : ":1.1")
            writer.string(isRunning ? ":1.2" : "")
        }
    }

    func activates(_ adapter: Int = 0) { bus.callsMonitor("Activate", of: adapter) }
}

extension ScriptedBus {
    /// bluetoothd calls our monitor object of an adapter.
    func callsMonitor(_ member: String, of adapter: Int = 0, _ body: (inout BusWriter) -> Void = { _ in }) {
        call(of: "/org/ibeacon_gateway/hci\(adapter)/monitor", BeaconMonitorObject.interface, member, body)
    }
}
