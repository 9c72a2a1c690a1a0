/// The bytes of a number, most significant first, as a beacon sends it.
package func bigEndianBytes(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { [UInt8]($0) }
}

/// The parts of a packet in their order.
///
/// A sum of many array literals takes the compiler of Swift 6.2 too long to type-check.
package func packet(_ parts: [UInt8]...) -> [UInt8] { parts.flatMap(\.self) }
