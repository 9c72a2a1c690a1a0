/// Writes one message in Protocol Buffers' wire format. As in its third version, a field that has its default is left out.
struct ProtobufWriter {
    private(set) var bytes: [UInt8] = []

    /// An unsigned number, an enumeration, or a truth value.
    mutating func number(_ field: Int, _ value: UInt64) {
        guard value != 0 else { return }
        tag(field, .varint)
        varint(value)
    }

    mutating func flag(_ field: Int, _ value: Bool) { number(field, value ? 1 : 0) }

    /// A signed number in the form `int32`: a negative one has ten bytes.
    mutating func plain(_ field: Int, _ value: Int32) { number(field, UInt64(bitPattern: Int64(value))) }

    /// A signed number in the form `sint32`.
    mutating func zigzag(_ field: Int, _ value: Int32) {
        number(field, UInt64(UInt32(bitPattern: (value << 1) ^ (value >> 31))))
    }

    mutating func fixed(_ field: Int, _ value: UInt32) {
        guard value != 0 else { return }
        tag(field, .fixed32)
        for index in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: value >> UInt32(8 * index))) }
    }

    mutating func text(_ field: Int, _ value: String) {
        guard !value.isEmpty else { return }
        data(field, Array(value.utf8)[...])
    }

    mutating func data(_ field: Int, _ value: ArraySlice<UInt8>) {
        guard !value.isEmpty else { return }
        tag(field, .bytes)
        varint(UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    /// A message as an element of a list: it is written also if it is empty.
    mutating func element(_ field: Int, _ message: ProtobufWriter) {
        tag(field, .bytes)
        varint(UInt64(message.bytes.count))
        bytes.append(contentsOf: message.bytes)
    }

    /// Forgets what was written, and keeps the memory.
    mutating func clear() { bytes.removeAll(keepingCapacity: true) }

    private mutating func tag(_ field: Int, _ type: WireType) { varint(UInt64(field) << 3 | UInt64(type.rawValue)) }

    private mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }
}
