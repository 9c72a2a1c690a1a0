import Base
import Beacon
import Presence
import Regions

let packet: [UInt8] =
    [0x02, 0x01, 0x06, 0x1a, 0xff, 0x4c, 0x00, 0x02, 0x15, 0xfd, 0xa5, 0x06, 0x93, 0xa4, 0xe2]
    + [0x4f, 0xb1, 0xaf, 0xcf, 0xc6, 0xeb, 0x07, 0x64, 0x78, 0x25, 0x00, 0x01, 0x00, 0x02, 0xc5]
let address = DeviceAddress(value: 0xd122_3344_5566, isRandom: true)
let report = AdvertisingReport(address: address, rssi: RSSI(reported: -67))
let receiver = Receiver(index: 0)
let keys = try RegionDescription(parsing: "Keys:FDA50693-A4E2-4FB1-AFCF-C6EB07647825:1")
let regions = keys.pattern.map { [MonitoredRegion(key: RegionKey(tracker: 0, rid: keys.name), pattern: $0)] } ?? []

var decoder = BeaconDecoder()
var engine = PresenceEngine()
_ = engine.handle(.regions(regions), at: .zero)
_ = engine.handle(.listening(receiver, true), at: .zero)
for second in 1...120 {
    let now = MonotonicInstant.zero.advanced(by: .seconds(second))
    var effects = engine.handle(.tick, at: now)
    if second <= 60,
        let heard = decoder.sighting(in: packet.span, of: report, by: receiver, at: now, telemetry: { _ in })
    {
        effects += engine.handle(.sighting(heard), at: now)
    }
    for effect in effects {
        switch effect {
        case .entered(let key, by: let sighting): print("\(second) s: enter \(key.rid), \(sighting.beacon)")
        case .left(let key, last: _, because: let reason): print("\(second) s: leave \(key.rid), \(reason)")
        case .dropped: break
        }
    }
}
