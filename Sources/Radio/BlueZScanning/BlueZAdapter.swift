import Base
import Beacon
import DBus
import Scanning

/// One adapter of bluetoothd, and the scan method that was requested of it.
final class BlueZAdapter {
    enum ScanMethod: Hashable {
        /// bluetoothd's advertisement monitor.
        case monitor
        /// An ordinary discovery.
        case discovery

        /// What is lost by this method, for the log.
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
    /// bluetoothd says that rfkill forbids the radio (`PowerState`, BlueZ 5.65 and later).
    var isBlocked = false
    /// Whether bluetoothd shows the adapter.
    var isThere = true
    var address: UInt64 = 0
    var discovery = DiscoveryEvidence()
    /// A discovery was asked for since bluetoothd has begun, and may stand.
    var hasAskedForDiscovery = false
    /// The requests that belong to what is now; answers to earlier ones mean nothing.
    var attempt = 0
    /// Why it does not listen, as last logged; nil while it listens.
    var said: ScanProblem?
    /// The requested method; it may not be active yet.
    var method: ScanMethod?
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

    var present: PresentAdapter {
        PresentAdapter(index: status.receiver.index, address: DeviceAddress(value: address, isRandom: false))
    }

    /// What was asked of bluetoothd is void: the adapter is off or gone, or bluetoothd has ended.
    func forgetRequests() {
        retry?.cancel()
        retry = nil
        attempt += 1
        method = nil
        isPowered = false
        discovery.ended()
    }

    /// Whether its discovery was asked for, and bluetoothd has not answered yet.
    var isInDoubt: Bool { discovery.isAsked }

    /// bluetoothd has ended, and with it all that it was asked for and offered.
    func forgetBluetoothd() {
        forgetRequests()
        (isThere, hasAskedForDiscovery, monitorFailed, isReleased, offersMonitor) = (false, false, false, false, false)
    }

    /// Applies properties of org.bluez.Adapter1.
    ///
    /// - Returns: The new value of `Discovering`, if it is among them.
    func update(_ properties: BusReader) -> Bool? {
        var isDiscovering: Bool?
        properties.forEachEntry { name, value in
            switch name {
            case "Powered": isPowered = value.boolean ?? isPowered
            case "PowerState": isBlocked = value.string.map { $0 == "off-blocked" } ?? isBlocked
            case "Discovering": isDiscovering = value.boolean ?? isDiscovering
            case "Address":
                address = value.string.flatMap { UInt64($0.filter { $0 != ":" }, radix: 16) } ?? address
                status.address = DeviceAddress(value: address, isRandom: false)
            default: break
            }
        }
        return isDiscovering
    }
}
