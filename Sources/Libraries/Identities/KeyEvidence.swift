import Base
import Beacon

/// Whether what was heard under an address of a key is its device.
///
/// A stranger's address fits a key once in 2^24 addresses. More packets of that address are no further evidence; these are:
/// - another address of the key within `window`,
/// - a packet of a shape that the device is known to send.
/// The shapes are known once the device was heard under two addresses. Until then one address is enough, because there is
/// nothing to compare with.
struct KeyEvidence {
    /// Devices change their address after 15 min at the latest, if they follow the Core Specification's recommendation
    /// (5.4, Vol 3, Part C, Appendix A); twice that.
    static let window = Duration.seconds(1800)
    /// Shapes that are remembered. Phones send about six.
    static let mostShapes = 16

    /// The address under which the device was heard last, and when.
    private var accepted: (address: UInt64, heard: MonotonicInstant)?
    /// An address that fits, without other evidence.
    private var candidate: (address: UInt64, heard: MonotonicInstant)?
    private var shapes: [PacketShape] = []
    /// Whether the device was heard under two addresses.
    private(set) var isKnown = false

    /// When a packet counted as one of the device.
    var lastHeard: MonotonicInstant? { accepted?.heard }

    init() { shapes.reserveCapacity(Self.mostShapes) }

    /// Takes note of a packet under an address that fits the key.
    ///
    /// - Returns: Whether it counts as a packet of the device.
    mutating func accepts(_ address: DeviceAddress, _ shape: PacketShape, at now: MonotonicInstant) -> Bool {
        if let last = accepted, last.address == address.value {
            accept(address, shape, at: now)
            return true
        }
        if let last = accepted, last.heard.duration(to: now) <= Self.window {
            isKnown = true
        } else if let other = candidate, other.address != address.value, other.heard.duration(to: now) <= Self.window {
            isKnown = true
        } else if !isKnown {
            shapes.removeAll(keepingCapacity: true)
        } else if !shapes.contains(shape) {
            candidate = (address.value, now)
            return false
        }
        accept(address, shape, at: now)
        return true
    }

    private mutating func accept(_ address: DeviceAddress, _ shape: PacketShape, at now: MonotonicInstant) {
        accepted = (address.value, now)
        candidate = nil
        if shapes.count < Self.mostShapes, !shapes.contains(shape) { shapes.append(shape) }
    }
}

/// What stays the same in all packets of one kind from one model of device: which structures follow each other, how long
/// they are, the flags, the transmission power, the company with its first byte, the service.
struct PacketShape: Hashable, BitwiseCopyable {
    /// FNV-1a over these.
    private let number: UInt64

    init(advertisingData data: Span<UInt8>) {
        var number: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ byte: UInt8) { number = (number ^ UInt64(byte)) &* 0x100_0000_01b3 }
        AdvertisingData.forEachStructure(in: data) { type, content in
            add(type)
            add(UInt8(truncatingIfNeeded: content.count))
            let fixed =
                switch type {
                // Flags, and the power of transmission (Assigned Numbers, 2.3).
                case 0x01, 0x0a: 1
                // The company, and Apple's type of message.
                case AdvertisingData.manufacturerSpecificData: 3
                case AdvertisingData.serviceData16: 2
                default: 0
                }
            for offset in 0..<min(fixed, content.count) { add(content[offset]) }
            return true
        }
        self.number = number
    }
}
