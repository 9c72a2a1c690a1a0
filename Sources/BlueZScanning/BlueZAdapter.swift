import Base
import Beacon
import DBus
import Scanning

/// One adapter as bluetoothd shows it, and what has been asked for on it.
final class BlueZAdapter {
    enum Way: Hashable {
        /// bluetoothd's advertisement monitor.
        case monitor
        /// An ordinary discovery.
        case discovery
    }

    let path: String
    var status: AdapterStatus
    var offersMonitor = false
    var isPowered = false
    var isDiscovering = false
    var address: UInt64 = 0
    /// Asked for, and perhaps granted.
    var way: Way?
    var retry: (any EventRegistration)?
    /// Some bluetoothds offer the monitor and refuse it; they are not asked again until they restart.
    var monitorFailed = false
    var hasListened = false

    init?(path: String) {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        guard name.hasPrefix("hci"), let number = UInt8(name.dropFirst(3)) else { return nil }
        self.path = path
        status = AdapterStatus(receiver: Receiver(index: number), name: name)
    }

    /// Takes over what org.bluez.Adapter1's properties say.
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
