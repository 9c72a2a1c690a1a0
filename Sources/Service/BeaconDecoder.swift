package import Beacon

/// Finds iBeacon frames in advertising packets.
package struct BeaconDecoder {
    private(set) var malformed = MalformedCounters()

    package mutating func sighting(in data: Span<UInt8>, of report: AdvertisingReport, by receiver: Receiver)
        -> Sighting?
    {
        guard let frame = IBeacon(advertisingData: data, malformed: &malformed) else { return nil }
        return Sighting(beacon: frame.id, measuredPower: frame.measuredPower, rssi: report.rssi, receiver: receiver)
    }
}
