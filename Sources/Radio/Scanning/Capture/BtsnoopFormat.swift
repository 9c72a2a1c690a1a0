/// The layout of a btsnoop file, after RFC 1761 and BlueZ's own files. All numbers are big endian.
package enum BtsnoopFormat {
    /// How the packets are wrapped, as the file's header names it.
    package enum Datalink: UInt32, CaseIterable, Sendable {
        /// The packet alone; the record's flags say what kind it is.
        case hci = 1001
        /// The packet after one byte with its kind, as on a UART (H4). Android and most tools write it.
        case uart = 1002
        /// The Linux monitor channel: the record's flags hold adapter and kind. `btmon` writes it.
        case monitor = 2001
    }

    /// `btsnoop` and a zero byte.
    static let magic: InlineArray<8, UInt8> = [0x62, 0x74, 0x73, 0x6e, 0x6f, 0x6f, 0x70, 0x00]
    static let version: UInt32 = 1
    static let headerLength = 16
    /// Original length, included length, flags, drops, time stamp.
    static let recordHeaderLength = 24
    /// The longest packet of any kind (ACL data, 16-bit length) with room for its wrapping. A record that claims more is
    /// damaged.
    static let longestPacket = 65_536 + 16
    /// Microseconds from the year 0, where the format counts from, to 1970.
    static let unixEpoch: Int64 = 62_168_256_000_000_000
    /// Packet kinds of H4 (Core Specification 5.4, Vol 4, Part A, 2).
    static let uartEvent: UInt8 = 0x04
    /// The monitor channel's kind for an HCI event.
    static let monitorEvent: UInt16 = 3
    /// Flags of datalink 1001: bit 0 = from the controller, bit 1 = command or event (not data).
    static let hciEventFlags: UInt32 = 3

    /// Where in the packet the HCI event begins.
    ///
    /// - Returns: nil if the packet is not an HCI event.
    static func eventOffset(in packet: Span<UInt8>, datalink: Datalink, flags: UInt32) -> Int? {
        switch datalink {
        case .hci: flags & 3 == hciEventFlags ? 0 : nil
        case .uart: packet.count > 0 && packet[0] == uartEvent ? 1 : nil
        case .monitor: UInt16(truncatingIfNeeded: flags) == monitorEvent ? 0 : nil
        }
    }
}

/// The number in the four bytes from `offset`, most significant first.
@inline(__always)
func bigEndian32(_ bytes: Span<UInt8>, at offset: Int) -> UInt32 {
    UInt32(bytes[offset]) << 24 | UInt32(bytes[offset + 1]) << 16 | UInt32(bytes[offset + 2]) << 8
        | UInt32(bytes[offset + 3])
}

/// The number in the eight bytes from `offset`, most significant first.
@inline(__always)
func bigEndian64(_ bytes: Span<UInt8>, at offset: Int) -> UInt64 {
    UInt64(bigEndian32(bytes, at: offset)) << 32 | UInt64(bigEndian32(bytes, at: offset + 4))
}
