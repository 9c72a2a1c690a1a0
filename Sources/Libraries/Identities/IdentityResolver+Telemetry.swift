package import Base
package import Beacon

extension IdentityResolver {
    /// Finds what a packet tells about the battery of what a region names.
    ///
    /// A fixed address names the sender of each of its packets. A frame is in other packets than telemetry, which is joined to it
    /// as to an iBeacon. All that an address belongs to gets the reading.
    ///
    /// - Parameters:
    ///   - sender: What `sender(of:data:by:at:)` found in this packet.
    ///   - frame: What `frame(in:of:by:)` found in it.
    ///   - body: Called for each that has a reading.
    package mutating func telemetry(
        in data: Span<UInt8>, of report: AdvertisingReport, by receiver: Receiver, sender: Sighting?, frame: Sighting?,
        at now: MonotonicInstant, _ body: (BeaconTelemetry) -> Void
    ) {
        guard sender != nil || hearsFrames else { return }
        // `BeaconDecoder` has counted what is malformed.
        var malformed = MalformedCounters()
        let own = Telemetry(advertisingData: data, malformed: &malformed)
        func tell(_ telemetry: Telemetry, of beacon: BeaconID) {
            body(BeaconTelemetry(beacon: beacon, battery: telemetry.battery, temperature: telemetry.temperature))
        }
        if let own, let sender { tell(own, of: sender.beacon) }
        if let frame {
            let joined = joined(to: frame.beacon, data, of: report, by: receiver, at: now)
            if let telemetry = own ?? joined { tell(telemetry, of: frame.beacon) }
        } else if let own {
            keep(own, of: report, by: receiver, at: now)
        }
    }
}
