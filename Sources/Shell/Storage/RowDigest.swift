/// FNV-1a, 64 bits, over the values of a row with their types and lengths.
///
/// SQLite's integrity check examines the structure of a file, and not the content of its cells. This digest detects
/// worn cells of a memory card. It does not detect an attacker, who can compute it too.
struct RowDigest {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    static func of(_ values: [SQLValue]) -> Int64 {
        var digest = RowDigest()
        for value in values { digest.add(value) }
        return Int64(bitPattern: digest.value)
    }

    mutating func add(_ value: SQLValue) {
        switch value {
        case .null: add(byte: 0)
        case .integer(let number):
            add(byte: 1)
            add(word: UInt64(bitPattern: number))
        case .real(let number):
            // SQLite stores NaN as NULL and does not keep the sign of zero.
            guard !number.isNaN else { return add(byte: 0) }
            add(byte: 2)
            add(word: number == 0 ? 0 : number.bitPattern)
        case .text(var text):
            add(byte: 3)
            text.withUTF8 { add($0) }
        case .blob(let bytes):
            add(byte: 4)
            bytes.withUnsafeBufferPointer { add($0) }
        }
    }

    private mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) {
        add(word: UInt64(bytes.count))
        // In a register: presence may be hundreds of kilobytes.
        var sum = value
        for byte in bytes { sum = Self.mix(sum, byte) }
        value = sum
    }

    private mutating func add(word: UInt64) {
        var sum = value
        for index in UInt64(0)..<8 { sum = Self.mix(sum, UInt8(truncatingIfNeeded: word >> (8 * index))) }
        value = sum
    }

    @inline(__always)
    private mutating func add(byte: UInt8) {
        value = Self.mix(value, byte)
    }

    @inline(__always)
    private static func mix(_ sum: UInt64, _ byte: UInt8) -> UInt64 { (sum ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
}
