/// Puts values one after the other into bytes: numbers little-endian, floats as their IEEE 754 bits, text and
/// lists after their count.
///
/// It runs at each transition before the message is sent. Functions that other targets call avoid type parameters: a
/// byte costs fifty nanoseconds if they are not specialised.
package struct StateWriter {
    /// The bytes that were put, and zeros as room for more.
    private var room: [UInt8]
    private var end = 0

    /// - Parameter capacity: About the number of bytes that will be put.
    package init(capacity: Int = 0) { room = Array(repeating: 0, count: max(64, capacity)) }

    /// The bytes that were put.
    package consuming func finish() -> [UInt8] {
        room.removeLast(room.count - end)
        return room
    }

    package mutating func put(_ value: UInt8) { putInteger(value) }
    package mutating func put(_ value: Int8) { putInteger(value) }
    package mutating func put(_ value: UInt16) { putInteger(value) }
    package mutating func put(_ value: UInt32) { putInteger(value) }
    package mutating func put(_ value: Int32) { putInteger(value) }
    package mutating func put(_ value: UInt64) { putInteger(value) }
    package mutating func put(_ value: Int64) { putInteger(value) }
    package mutating func put(_ value: Float) { putInteger(value.bitPattern) }
    package mutating func put(_ value: Bool) { putInteger(value ? 1 as UInt8 : 0) }

    package mutating func put(_ text: String) {
        var text = text
        text.withUTF8 { put(list: UnsafeRawBufferPointer($0)) }
    }

    /// nil as a byte 0, a value after a byte 1.
    package mutating func put(_ value: Int64?) {
        put(value != nil)
        if let value { put(value) }
    }

    /// nil as a byte 0, a value after a byte 1.
    package mutating func put(_ value: Int8?) {
        put(value != nil)
        if let value { put(value) }
    }

    package mutating func put<Item>(_ items: [Item], _ put: (inout StateWriter, Item) -> Void) {
        self.put(UInt32(clamping: items.count))
        for item in items.prefix(Int(UInt32.max)) { put(&self, item) }
    }

    /// A list whose count is known only after its items were put.
    ///
    /// - Parameter put: Puts the items, and returns how many.
    mutating func putList(_ put: (inout StateWriter) -> Int) {
        let start = end
        self.put(UInt32(0))
        let count = UInt32(clamping: put(&self))
        room.withUnsafeMutableBytes { $0.storeBytes(of: count.littleEndian, toByteOffset: start, as: UInt32.self) }
    }

    /// As a list of bytes.
    package mutating func put(list: [UInt8]) { list.withUnsafeBytes { put(list: $0) } }

    private mutating func put(list: UnsafeRawBufferPointer) {
        let count = min(list.count, Int(UInt32.max))
        put(UInt32(clamping: count))
        reserve(count)
        room.withUnsafeMutableBytes { $0[end..<(end + count)].copyBytes(from: list.prefix(count)) }
        end += count
    }

    @inline(__always)
    private mutating func putInteger<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value) {
        reserve(MemoryLayout<Value>.size)
        room.withUnsafeMutableBytes { $0.storeBytes(of: value.littleEndian, toByteOffset: end, as: Value.self) }
        end += MemoryLayout<Value>.size
    }

    @inline(__always)
    private mutating func reserve(_ count: Int) {
        if end + count > room.count { grow(by: count) }
    }

    private mutating func grow(by count: Int) {
        room += Array(repeating: 0, count: max(room.count, count))
    }
}
