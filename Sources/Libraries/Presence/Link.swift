import Beacon

/// A beacon at one receiver.
struct Link: Sendable, BitwiseCopyable {
    var model: ArrivalModel
    // A number of two bytes beside one of four would make a beacon 16 bytes larger.
    private let lowReceiver: UInt8
    /// The four high bits of the receiver, which is below 4,096, and 28 bits of the next link's index, plus 1.
    private var packed: UInt32

    init(model: ArrivalModel, receiver: Receiver, next: Int32 = -1) {
        self.model = model
        lowReceiver = UInt8(truncatingIfNeeded: receiver.index)
        packed = UInt32(receiver.index >> 8) << Self.positionBits
        self.next = next
    }

    private static var positionBits: UInt32 { 28 }
    private static var positionMask: UInt32 { 1 << positionBits - 1 }

    var receiver: Receiver {
        Receiver(index: UInt16(truncatingIfNeeded: packed >> Self.positionBits) << 8 | UInt16(lowReceiver))
    }

    /// The next link of the same beacon, in the engine's list; −1: none.
    var next: Int32 {
        get { Int32(truncatingIfNeeded: packed & Self.positionMask) - 1 }
        set { packed = packed & ~Self.positionMask | UInt32(truncatingIfNeeded: newValue &+ 1) & Self.positionMask }
    }
}
