import Base
import Beacon
import DBus
import Scanning

/// One adapter of bluetoothd, and the way of listening that was requested on it.
final class BlueZAdapter {
    enum Way: Hashable {
        /// bluetoothd's advertisement monitor.
        case monitor
        /// An ordinary discovery.
        case discovery

        /// What is lost by listening in this way, for the log.
        var limits: String {
            switch self {
            case .monitor:
                """
                hearing through bluetoothd: of ten reports about two arrive, RSSI only when it changes by 8 dB; \
                with CAP_NET_ADMIN the mgmt scanner hears all
                """
            case .discovery:
                """
                hearing through a discovery of bluetoothd: each beacon about once in 10 s, so leaves are noticed \
                late; with CAP_NET_ADMIN the mgmt scanner hears all, and bluetoothd -E at least offers its monitor
                """
            }
        }
    }

    let path: String
    var status: AdapterStatus
    var offersMonitor = false
    var isPowered = false
    var isDiscovering = false
    var address: UInt64 = 0
    /// The requested way of listening; it may not be active yet.
    var way: Way?
    var retry: (any EventRegistration)?
    /// Some versions of bluetoothd offer the monitor and refuse it. It is not requested again until bluetoothd
    /// restarts.
    var monitorFailed = false
    /// bluetoothd has given up the monitor. It still knows the program that asked for it, so it may say that the monitor exists.
    var isReleased = false
    var hasListened = false
    /// Whether the output knows if this adapter listens.
    var hasReported = false

    init?(path: String) {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        guard name.hasPrefix("hci"), let number = UInt16(name.dropFirst(3)) else { return nil }
        self.path = path
        status = AdapterStatus(receiver: Receiver(index: number), name: name)
    }

    /// bluetoothd shows an adapter with all its properties, so the address is known after the first `update`.
    func isChosen(by selection: AdapterSelection) -> Bool {
        selection.includes(
            index: status.receiver.index, address: DeviceAddress(value: address, isRandom: false))
    }

    /// Applies properties of org.bluez.Adapter1.
    func update(_ properties: BusReader) {
        properties.forEachEntry { name, value in
            switch name {
            case "Powered": isPowered = value.boolean ?? isPowered
            case "Discovering": isDiscovering = value.boolean ?? isDiscovering
            case "Address": address = value.string.flatMap { UInt64($0.filter { $0 != ":" }, radix: 16) } ?? address
            default: break
            }
        }
    }
}
