package import Advertising
package import Beacon
package import Identities
package import Scanning

/// A service's link to Bluetooth: it starts and stops listening, and passes sightings to a `RadioOutput`.
package protocol RadioLink: AnyObject {
    /// Takes one packet of a receiver. The data is valid only during the call.
    typealias PacketOutput = (AdvertisingReport, Span<UInt8>, Receiver) -> Void

    /// The scanner in use, by its name in the configuration.
    var scannerName: String { get }
    var adapters: [AdapterStatus] { get }
    /// Why no adapter can be used, and what to do; nil if one can, or if it is not known yet.
    var problem: ScanProblem? { get }
    /// Frames that look like an iBeacon's or like telemetry and are malformed.
    var malformed: MalformedCounters { get }

    /// Starts listening. Failures are reported by `notice`, and the link tries again.
    func start(_ output: any RadioOutput)
    func stop()
    /// Stops listening and starts again. What is sent goes on.
    func restartScan()
    /// Sets the share of the time in which the radio listens, before the start or while it listens. `adapters` show which
    /// adapter has taken it.
    func setDuty(_ duty: ScanDuty)
    /// Sets where tags send their battery in major and minor. It holds from the next packet on.
    func setBatteryMasks(_ masks: BatteryMasks)
    /// Sets what is heard beside iBeacons. It holds from the next packet on.
    func setIdentities(_ identities: [Identity])
    /// Sets the keys of the devices that are heard beside them. It holds from the next packet on.
    func setKeys(_ keys: [PhoneKey])
    /// Sets which UUIDs of the keys regions and tags name. It holds from the next packet on.
    func setNamed(_ isNamed: (BeaconUUID) -> Bool)
    /// Sets who takes every packet that adapters receive, whether or not presence needs it; nil: nobody. What presence hears stays
    /// the same.
    func setTap(_ output: PacketOutput?)
    /// Sets whether windows of active scan are offered. `AdapterStatus.activeScan` says whether an adapter can have one.
    func setOffersActiveScan(_ offers: Bool)
    /// Begins a window of active scan, or ends it. It ends by itself after at most 35 s. What presence hears stays the same.
    func scanActively(_ isWanted: Bool, by receiver: Receiver)
    /// Sets the beacon that is to be sent; nil: none. `sending` says what becomes of it.
    func send(_ beacon: BeaconID?)
    var sending: SendingState { get }
    /// What would be left on the air if the program was killed now.
    var advertisements: [AdvertisementPlace] { get }
    /// Removes what an earlier run of the program has left on the air.
    func remove(_ advertisements: [AdvertisementPlace])
    /// Packets of a receiver that came for the tap, and were not read in time: the total since the start.
    func packetsLost(by receiver: Receiver) -> UInt64
    /// What was learned of the keys, in their order.
    var phones: [PhoneHearing] { get }
}
