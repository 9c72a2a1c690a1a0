import Advertising
import Beacon
import Identities
import Scanning
import ServiceSupport
import StatusPage

@testable import GatewayApp

/// A radio that hears what the test says.
final class RadioDouble: RadioLink {
    let scannerName = "capture"
    var adapters: [AdapterStatus] = []
    var problem: ScanProblem?
    let malformed = MalformedCounters()
    private(set) weak var output: (any RadioOutput)?
    private(set) var starts = 0
    /// The duty that was set last.
    private(set) var duty: ScanDuty?
    /// The masks that were set last.
    private(set) var batteryMasks = BatteryMasks()
    /// The identities that were set last.
    private(set) var identities: [Identity] = []
    /// The keys that were set last.
    private(set) var keys: [PhoneKey] = []
    /// Those UUIDs of the keys that regions and tags named last.
    private(set) var named: Set<BeaconUUID> = []
    /// What the radio has learned of the keys.
    var phones: [PhoneHearing] = []

    /// Who takes every packet.
    private(set) var packets: PacketOutput?

    init() {}

    /// Packets that came for the tap, and were not read in time.
    var lostOfTap: UInt64 = 0

    func setTap(_ output: PacketOutput?) { packets = output }
    /// Whether windows of active scan are offered, and for which adapters one is wanted.
    private(set) var offersActiveScan = false
    private(set) var activeScans: Set<Receiver> = []

    func setOffersActiveScan(_ offers: Bool) { offersActiveScan = offers }

    func scanActively(_ isWanted: Bool, by receiver: Receiver) {
        if isWanted { activeScans.insert(receiver) } else { activeScans.remove(receiver) }
    }

    /// The beacon that is to be sent, and what the test says of it.
    private(set) var beacon: BeaconID?
    private(set) var sends = 0
    var sending = SendingState.off
    var advertisements: [AdvertisementPlace] = []
    private(set) var removed: [AdvertisementPlace] = []

    func send(_ beacon: BeaconID?) {
        guard beacon != self.beacon else { return }
        self.beacon = beacon
        sends += 1
        say(beacon == nil ? .off : .asked)
    }

    func remove(_ advertisements: [AdvertisementPlace]) { removed += advertisements }

    /// What becomes of the beacon.
    func say(_ state: SendingState, leaving places: [AdvertisementPlace] = []) {
        (sending, advertisements) = (state, places)
        output?.sendingChanged()
    }

    func packetsLost(by receiver: Receiver) -> UInt64 { lostOfTap }

    var isStarted: Bool { output != nil }

    func start(_ output: any RadioOutput) {
        self.output = output
        starts += 1
    }

    func stop() { output = nil }
    func restartScan() { starts += 1 }

    func setDuty(_ duty: ScanDuty) { self.duty = duty }
    func setBatteryMasks(_ masks: BatteryMasks) { batteryMasks = masks }
    func setIdentities(_ identities: [Identity]) { self.identities = identities }
    func setKeys(_ keys: [PhoneKey]) { self.keys = keys }
    func setNamed(_ isNamed: (BeaconUUID) -> Bool) {
        named = Set(keys.flatMap { [$0.uuid, $0.otherUUID] }.filter(isNamed))
    }
}

extension StatusDouble {
    /// The page, if it is a gateway's.
    var source: (any StatusSource)? { page as? any StatusSource }
}
