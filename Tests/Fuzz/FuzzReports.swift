// The way of a report: HCI event → advertising reports → AD structures → iBeacon.
import Beacon

nonisolated(unsafe) private var parser = AdvertisingReportParser()

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
    return 0
}
