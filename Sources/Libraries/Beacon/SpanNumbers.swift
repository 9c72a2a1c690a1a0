/// Numbers in the bytes of a packet. Each is one load after one check of bounds: byte by byte, the checks of an
/// iBeacon's UUID alone cost more than the rest of the decoding.
extension Span<UInt8> {
    @inline(__always)
    package func bigEndian<Number: FixedWidthInteger & BitwiseCopyable>(_: Number.Type, at offset: Int) -> Number {
        // "Unsafe" is the load of a type for which not all bytes are valid. An integer has no invalid bytes.
        Number(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Number.self))
    }

    @inline(__always)
    package func littleEndian<Number: FixedWidthInteger & BitwiseCopyable>(_: Number.Type, at offset: Int) -> Number {
        Number(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Number.self))
    }
}
