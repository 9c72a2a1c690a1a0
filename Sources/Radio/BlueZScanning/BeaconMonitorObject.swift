import DBus
import Scanning

/// The object that tells bluetoothd which advertisements to report: an org.bluez.AdvertisementMonitor1 under an object
/// manager of the gateway (BlueZ, doc/advertisement-monitor-api.txt).
///
/// Each adapter has its own object manager and monitor, because bluetoothd's calls do not name the adapter.
enum BeaconMonitorObject {
    /// The path of an adapter's object manager.
    static func root(of adapter: BlueZAdapter) -> String { "/org/ibeacon_gateway/\(adapter.status.name)" }
    /// The path of an adapter's monitor.
    static func path(of adapter: BlueZAdapter) -> String { "\(root(of: adapter))/monitor" }

    static let interface = "org.bluez.AdvertisementMonitor1"

    /// Seconds without an advertisement after which bluetoothd reports a device as lost.
    static let lostAfter: UInt16 = 5

    /// How many patterns bluetoothd takes. It keeps the length of its request to the kernel in one octet (BlueZ, src/adv_monitor.c):
    /// with eight patterns of 34 octets it writes beyond the memory of the request and ends (seen with 5.66).
    static let mostPatterns = 7
    /// What it is asked for. Only the first formats of telemetry fit; the others are not asked for.
    static let patterns = Array(([BeaconPacketPattern.iBeacon] + BeaconPacketPattern.telemetry).prefix(mostPatterns))

    /// The answer to GetManagedObjects of an adapter's object manager.
    static func describe(_ adapter: BlueZAdapter, in message: BusMessage) {
        message.append { writer in
            writer.container(BusType.array, "{oa{sa{sv}}}") { objects in
                objects.object(path(of: adapter), interface, properties)
            }
        }
    }

    private static func properties(_ writer: inout BusWriter) {
        writer.property("Type", "s") { $0.string("or_patterns") }
        // Every advertisement of any strength. −127 dBm would mean "not set".
        writer.property("RSSIHighThreshold", "n") { $0.int16(-126) }
        writer.property("RSSIHighTimeout", "q") { $0.uint16(1) }
        writer.property("RSSILowThreshold", "n") { $0.int16(-127) }
        writer.property("RSSILowTimeout", "q") { $0.uint16(lostAfter) }
        // Zero: every advertisement is reported, as far as bluetoothd reports them.
        writer.property("RSSISamplingPeriod", "q") { $0.uint16(0) }
        writer.property("Patterns", "a(yyay)") { value in
            value.container(BusType.array, "(yyay)") { list in
                for wanted in Self.patterns {
                    list.container(BusType.structure, nil) { pattern in
                        pattern.byte(0)
                        pattern.byte(wanted.type)
                        pattern.container(BusType.array, "y") { bytes in
                            for byte in wanted.start { bytes.byte(byte) }
                        }
                    }
                }
            }
        }
    }
}
