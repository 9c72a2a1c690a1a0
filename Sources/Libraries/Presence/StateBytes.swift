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

/// Reads values from bytes that may be damaged. A value that a `StateWriter` cannot have written is an error; no bytes
/// cause a trap.
package struct StateReader {
    /// The bytes are not what a `StateWriter` made.
    package struct Malformed: Error {}

    private let bytes: [UInt8]
    private var offset = 0

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package var isAtEnd: Bool { offset == bytes.count }

    package mutating func read<Value: FixedWidthInteger>(
        _ type: Value.Type = Value.self
    ) throws(Malformed) -> Value {
        let size = MemoryLayout<Value>.size
        guard bytes.count - offset >= size else { throw Malformed() }
        var value: Value = 0
        for index in stride(from: size - 1, through: 0, by: -1) {
            value =
                size == 1 ? Value(truncatingIfNeeded: bytes[offset + index]) : value << 8 | Value(bytes[offset + index])
        }
        offset += size
        return value
    }

    /// A whole number that lies in `range`.
    package mutating func read<Value: FixedWidthInteger>(in range: ClosedRange<Value>) throws(Malformed) -> Value {
        let value = try read(Value.self)
        guard range.contains(value) else { throw Malformed() }
        return value
    }

    /// A number that lies in `range`; NaN lies in none.
    package mutating func read(in range: ClosedRange<Float>) throws(Malformed) -> Float {
        let value = Float(bitPattern: try read())
        guard range.contains(value) else { throw Malformed() }
        return value
    }

    package mutating func readBool() throws(Malformed) -> Bool {
        try read(in: UInt8(0)...1) == 1
    }

    package mutating func readText() throws(Malformed) -> String {
        let count = Int(try read(UInt32.self))
        guard count <= bytes.count - offset,
            let text = String(validating: bytes[offset..<(offset + count)], as: UTF8.self)
        else { throw Malformed() }
        offset += count
        return text
    }

    /// What `put(list:)` put.
    package mutating func readBytes() throws(Malformed) -> [UInt8] {
        let count = Int(try read(UInt32.self))
        guard count <= bytes.count - offset else { throw Malformed() }
        defer { offset += count }
        return Array(bytes[offset..<(offset + count)])
    }

    package mutating func readOptional<Value: FixedWidthInteger>(
        in range: ClosedRange<Value>
    ) throws(Malformed) -> Value? {
        try readBool() ? try read(in: range) : nil
    }

    /// - Parameter most: More items are an error.
    package mutating func readList<Item>(
        most: Int, _ readItem: (inout StateReader) throws(Malformed) -> Item
    ) throws(Malformed) -> [Item] {
        let count = Int(try read(UInt32.self))
        guard count <= most else { throw Malformed() }
        var items: [Item] = []
        for _ in 0..<count { items.append(try readItem(&self)) }
        return items
    }
}
