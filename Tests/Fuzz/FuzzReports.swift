// The way of a report: HCI event → advertising reports → AD structures → iBeacon, or telemetry and its iBeacon.
import Base
import Beacon

nonisolated(unsafe) private var parser = AdvertisingReportParser()
nonisolated(unsafe) private var decoder = BeaconDecoder()
nonisolated(unsafe) private var now = MonotonicInstant.zero

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe UnsafeBufferPointer(start: bytes, count: count)
    var malformed = MalformedCounters()
    var delivered: UInt64 = 0
    let before = parser.reports
    unsafe parser.parse(event: input.span) { report, data in
        delivered += 1
        require(data.count <= 229, "more data than a report can carry")
        if let rssi = report.rssi { require(rssi.dBm <= 20) }
        if let beacon = IBeacon(advertisingData: data, malformed: &malformed) {
            require(data.count >= 27, "a beacon in too few bytes")
            require(BeaconUUID(beacon.id.uuid.description) == beacon.id.uuid)
        }
    }
    require(parser.reports == before + delivered, "the counter and the reports differ")
    require(malformed.total <= 2 * delivered, "more faults than a report can have")
    // The same bytes as advertising data alone, as the kernel's management socket gives them.
    _ = unsafe IBeacon(advertisingData: input.span, malformed: &malformed)
    _ = unsafe IBeacon(manufacturerSpecificData: input.span)
    if let telemetry = unsafe Telemetry(advertisingData: input.span, malformed: &malformed) {
        require(telemetry.battery.percent <= 100, "a battery above 100 %")
        if let temperature = telemetry.temperature { require(abs(temperature) <= 3_277, "a temperature of no format") }
    }
    // Twice, because telemetry is joined to an iBeacon that is heard before and after it.
    for _ in 0..<2 {
        unsafe parser.parse(event: input.span) { report, data in
            unsafe now = now.advanced(by: .milliseconds(100))
            _ = unsafe decoder.sighting(in: data, of: report, by: Receiver(index: 0), at: now) { telemetry in
                require(telemetry.battery.percent <= 100, "a battery above 100 %")
            }
        }
    }
    return 0
}
