import Beacon
import KernelScanning
import Scanning

/// The adapters that may send the beacon, and which of them is to: the first with advertising sets, else the first.
struct AdvertisingAdapters: Sendable {
    struct Adapter: Hashable {
        let address: DeviceAddress
        var settings: ControllerSettings
        /// nil: the kernel was not asked yet.
        var hasSets: Bool?
        /// Why it does not send.
        var refusal: ScanProblem?
        /// Whether its controller takes no address of an advertisement while it scans.
        var pausesScan = false
        /// Refusals in a row because something else was going on.
        var busy = 0

        var isReady: Bool { settings.isSuperset(of: [.powered, .lowEnergy]) }

        mutating func forgive() {
            refusal = nil
            busy = 0
        }
    }

    private var adapters: [UInt16: Adapter] = [:]

    subscript(index: UInt16) -> Adapter? {
        get { adapters[index] }
        set { adapters[index] = newValue }
    }

    mutating func remove(_ index: UInt16) -> Adapter? { adapters.removeValue(forKey: index) }

    var hasReady: Bool { adapters.values.contains(where: \.isReady) }

    /// Those that are on and have not refused.
    private var able: [UInt16] { adapters.filter { $1.isReady && $1.refusal == nil }.keys.sorted() }

    var chosen: UInt16? { able.first { adapters[$0]?.hasSets == true } ?? able.first }

    /// The next one to be asked what it can do: each is asked once, and the chosen one each time, because other programs come and go.
    var next: UInt16? { able.first { adapters[$0]?.hasSets == nil } ?? chosen }

    /// The number of the adapter with this address, while it is on.
    func ready(_ address: DeviceAddress) -> UInt16? {
        adapters.first { $1.address == address && $1.isReady }?.key
    }

    /// The refusal of the first that has one.
    var refusal: ScanProblem? { adapters.keys.sorted().lazy.compactMap { adapters[$0]?.refusal }.first }

    /// Each may be asked again, once.
    mutating func retry() { for index in adapters.keys { adapters[index]?.refusal = nil } }

    /// Each is asked as if it had not refused.
    mutating func forgive() { for index in adapters.keys { adapters[index]?.forgive() } }
}
