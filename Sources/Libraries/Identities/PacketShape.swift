import Beacon

/// What stays the same in all packets of one kind from one model of device: which structures follow each other, how long
/// they are, the flags, the transmission power, the company with its first byte, the service. Of Apple's message Nearby Info
/// also the octet that tells the version of the system and the features that are on (furiousMAC/continuity).
struct PacketShape: Hashable, BitwiseCopyable {
    /// A hash of these.
    private let number: UInt64

    /// FNV-1a. A function in the initialiser that changes a variable of it would put that on the heap, for each packet.
    private struct Hash {
        var number: UInt64 = 0xcbf2_9ce4_8422_2325
        mutating func add(_ byte: UInt8) { number = (number ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }

    init(advertisingData data: Span<UInt8>) {
        var hash = Hash()
        AdvertisingData.forEachStructure(in: data) { type, content in
            hash.add(type)
            hash.add(UInt8(truncatingIfNeeded: content.count))
            let fixed =
                switch type {
                // Flags, and the power of transmission (Assigned Numbers, 2.3).
                case 0x01, 0x0a: 1
                // The company, and Apple's type of message.
                case AdvertisingData.manufacturerSpecificData: 3
                case AdvertisingData.serviceData16: 2
                default: 0
                }
            for offset in 0..<min(fixed, content.count) { hash.add(content[offset]) }
            let isNearbyInfo =
                type == AdvertisingData.manufacturerSpecificData && content.count > 5 && content[0] == 0x4c
                && content[1] == 0 && content[2] == 0x10
            if isNearbyInfo { hash.add(content[5]) }
            return true
        }
        number = hash.number
    }
}
