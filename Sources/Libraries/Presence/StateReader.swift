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
