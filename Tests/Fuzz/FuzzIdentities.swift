// What names an advertiser that is no iBeacon: frames, addresses, keys, and the texts in which people hold them.
import Base
import Beacon
import Identities

/// Fits often, so that the evidence for a key is asked for.
private struct ShortHash: AddressHash {
    func hash(of random: UInt32, key: Int, isReversed: Bool) -> UInt32 { random & 3 }
}

nonisolated(unsafe) private var resolver = {
    var resolver = IdentityResolver()
    resolver.setIdentities([.address(0xc0ff_ee00_0001), .altBeacon(BeaconUUID(high: 1, low: 2))])
    resolver.setKeys(
        [PhoneKey(IdentityKey(high: 1, low: 2)), PhoneKey(IdentityKey(high: 3, low: 4))], hash: ShortHash())
    return resolver
}()
nonisolated(unsafe) private var now = MonotonicInstant.zero

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe UnsafeBufferPointer(start: bytes, count: count)
    if let frame = unsafe IdentityFrame(advertisingData: input.span) {
        require(Identity(frame.identity.text) == frame.identity, "reads differently again: \(frame.identity.text)")
    }
    if let address = unsafe DeviceAddress(littleEndian: input.span, at: 0, isRandom: count % 2 == 0) {
        unsafe now = now.advanced(by: .seconds(count))
        let report = AdvertisingReport(address: address, rssi: nil)
        let sender = unsafe resolver.sender(of: report, data: input.span, by: Receiver(index: 0), at: now)
        let frame = unsafe resolver.frame(in: input.span, of: report, by: Receiver(index: 0))
        unsafe resolver.telemetry(
            in: input.span, of: report, by: Receiver(index: 0), sender: sender, frame: frame, at: now
        ) { require($0.battery.percent <= 100, "a battery above 100 %") }
    }
    let text = unsafe String(decoding: input, as: UTF8.self)
    if let identity = Identity(text) { require(Identity(identity.text) == identity, "reads differently: \(text)") }
    if let key = IdentityKey(text) {
        require(IdentityKey(key.digits) == key, "reads differently: \(text)")
        require(key.reversed.reversed == key && key.reversed.unordered == key.unordered)
    }
    for key in unsafe KeyText.named(in: Array(input)) {
        require(IdentityKey(key.digits) == key, "reads differently: \(text)")
    }
    do throws(PhoneKeysError) {
        let keys = try unsafe PhoneKeys(parsing: Array(input))
        require((try? PhoneKeys(parsing: keys.bytes)) == keys, "reads differently: \(text)")
        var merged = keys
        merged.merge(keys)
        require(merged.sorted == keys.sorted, "a list changes itself: \(text)")
    } catch {
        require(!error.description.isEmpty)
    }
    return 0
}
