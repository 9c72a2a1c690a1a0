/// Reads the fields of one message in Protocol Buffers' wire format. Each field costs constant time, and nothing is copied.
struct ProtobufReader {
    enum Value {
        case number(UInt64)
        case bytes(ArraySlice<UInt8>)
    }

    /// The message is no message.
    struct Malformed: Error {}

    private var rest: ArraySlice<UInt8>

    init(_ message: ArraySlice<UInt8>) { rest = message }

    /// - Returns: nil at the end.
    mutating func next() throws(Malformed) -> (field: UInt64, value: Value)? {
        guard !rest.isEmpty else { return nil }
        let tag = try varint()
        guard let type = WireType(rawValue: UInt8(tag & 7)), tag >> 3 != 0, tag >> 3 <= 0x1fff_ffff else {
            throw Malformed()
        }
        return (tag >> 3, try value(type))
    }

    private mutating func value(_ type: WireType) throws(Malformed) -> Value {
        switch type {
        case .varint: return .number(try varint())
        case .fixed32: return .number(try fixed(4))
        case .fixed64: return .number(try fixed(8))
        case .bytes:
            let count = try varint()
            guard count <= UInt64(rest.count) else { throw Malformed() }
            defer { rest = rest.dropFirst(Int(count)) }
            return .bytes(rest.prefix(Int(count)))
        }
    }

    /// At most ten bytes; what does not fit into 64 bits is refused.
    private mutating func varint() throws(Malformed) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 63, by: 7) {
            guard let byte = rest.popFirst() else { throw Malformed() }
            if shift == 63, byte > 1 { throw Malformed() }
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
        }
        throw Malformed()
    }

    private mutating func fixed(_ count: Int) throws(Malformed) -> UInt64 {
        guard rest.count >= count else { throw Malformed() }
        var value: UInt64 = 0
        for byte in rest.prefix(count).reversed() { value = value << 8 | UInt64(byte) }
        rest = rest.dropFirst(count)
        return value
    }
}
