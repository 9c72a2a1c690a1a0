/// A file that holds packets in another format than btsnoop, or a compressed one. It is known by its first bytes.
package enum ForeignCapture: Hashable, Sendable {
    /// - Parameter linkType: As registered at tcpdump.org; nil if it is not among the first bytes.
    case pcap(isNextGeneration: Bool, linkType: UInt32?)
    /// Of Apple's PacketLogger.
    case packetLogger
    /// Of `hcidump -w`, which writes btsnoop only with `-B`.
    case hcidump
    /// By this program, which other programs call by `command` to get the content.
    case compressed(String, command: String)
    case zipArchive
    /// JSON, in which regions are.
    case json
    /// What a program prints, such as btmon.
    case text

    /// - Parameter bytes: The first of the file, 16 or more if it has so many.
    init?(_ bytes: Span<UInt8>) {
        if let compressed = Self.compressed(bytes) {
            self = compressed
        } else if let isLittle = Self.pcapOrder(bytes) {
            self = .pcap(
                isNextGeneration: false, linkType: Self.number(bytes, at: 20, isLittle).map { $0 & 0x0fff_ffff })
        } else if Self.number(bytes, at: 0, false) == 0x0a0d_0d0a {
            self = .pcap(isNextGeneration: true, linkType: Self.firstInterface(bytes))
        } else if Self.isHcidump(bytes) {
            self = .hcidump
        } else if Self.isPacketLogger(bytes) {
            self = .packetLogger
        } else if bytes.count > 0, bytes[0] == UInt8(ascii: "{") || bytes[0] == UInt8(ascii: "[") {
            self = .json
        } else if Self.isText(bytes) {
            self = .text
        } else {
            return nil
        }
    }

    private static func compressed(_ bytes: Span<UInt8>) -> ForeignCapture? {
        switch number(bytes, at: 0, false) {
        case let head? where head >> 16 == 0x1f8b: .compressed("gzip", command: "zcat")
        case 0x28b5_2ffd: .compressed("zstd", command: "zstdcat")
        case 0xfd37_7a58: .compressed("xz", command: "xzcat")
        case let head? where head >> 8 == 0x42_5a68: .compressed("bzip2", command: "bzcat")
        case let head? where head >> 16 == 0x1f9d: .compressed("compress", command: "zcat")
        case 0x0422_4d18: .compressed("lz4", command: "lz4cat")
        case 0x4c5a_4950: .compressed("lzip", command: "lzip -dc")
        case 0x377a_bcaf: .compressed("7z", command: "7z x -so")
        case 0x504b_0304: .zipArchive
        default: nil
        }
    }

    /// Whether the numbers of a pcap file are little endian; nil if it is none. Stamps are micro- or nanoseconds, or the packets have
    /// headers of more bytes (an early change of Linux).
    private static func pcapOrder(_ bytes: Span<UInt8>) -> Bool? {
        switch number(bytes, at: 0, false) {
        case 0xa1b2_c3d4, 0xa1b2_3c4d, 0xa1b2_cd34: false
        case 0xd4c3_b2a1, 0x4d3c_b2a1, 0x34cd_b2a1: true
        default: nil
        }
    }

    /// The link type of the first interface of a pcapng file, in the block behind the section header.
    private static func firstInterface(_ bytes: Span<UInt8>) -> UInt32? {
        let isLittle = number(bytes, at: 8, false) == 0x4d3c_2b1a
        guard let length = number(bytes, at: 4, isLittle), 28...4096 ~= length else { return nil }
        let block = Int(length)
        guard number(bytes, at: block, isLittle) == 1, let types = number(bytes, at: block + 8, isLittle) else {
            return nil
        }
        return isLittle ? types & 0xffff : types >> 16
    }

    /// Length (2), direction, a zero byte, seconds, microseconds, all little endian, then the kind of H4.
    private static func isHcidump(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.count > 12, bytes[2] <= 1, bytes[3] == 0, let microseconds = number(bytes, at: 8, true) else {
            return false
        }
        let length = Int(bytes[0]) | Int(bytes[1]) << 8
        guard length != 0, microseconds < 1_000_000, 1...4 ~= bytes[12] else { return false }
        // A record of PacketLogger may begin with the same bytes. Its length counts the time, too.
        return packetLength(bytes, at: 12).map { $0 == length } ?? true
    }

    /// The bytes of a packet of H4, with its kind, as its header says; nil for one whose header is not there.
    private static func packetLength(_ bytes: Span<UInt8>, at offset: Int) -> Int? {
        guard offset + 5 <= bytes.count else { return nil }
        return switch bytes[offset] {
        case 1, 3: 4 + Int(bytes[offset + 3])
        case 2: 5 + (Int(bytes[offset + 3]) | Int(bytes[offset + 4]) << 8)
        default: 3 + Int(bytes[offset + 2])
        }
    }

    /// Length (4), seconds, microseconds, the kind of the record. Older files are big endian. A record of a command, event or data
    /// has a kind up to 3, one of a note 0xF7 and above.
    private static func isPacketLogger(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.count > 12, bytes[12] <= 3 || bytes[12] >= 0xf7 else { return false }
        return [true, false].contains { isLittle in
            guard let length = number(bytes, at: 0, isLittle), let microseconds = number(bytes, at: 8, isLittle) else {
                return false
            }
            return 9...0xffff ~= length && microseconds < 1_000_000
        }
    }

    /// Whether the first bytes are those that a program prints for people.
    private static func isText(_ bytes: Span<UInt8>) -> Bool {
        let count = min(bytes.count, 64)
        for index in 0..<count where bytes[index] < 0x20 && !(0x09...0x0d ~= bytes[index] || bytes[index] == 0x1b) {
            return false
        }
        return count >= 4 && bytes[0] < 0x80 && bytes[1] < 0x80
    }

    private static func number(_ bytes: Span<UInt8>, at offset: Int, _ isLittle: Bool) -> UInt32? {
        guard offset >= 0, offset + 4 <= bytes.count else { return nil }
        let number = bigEndian32(bytes, at: offset)
        return isLittle ? number.byteSwapped : number
    }
}

extension ForeignCapture {
    /// What the file is, and how a capture is made of it.
    ///
    /// - Parameter file: As the user named it.
    func text(for file: String) -> String {
        switch self {
        case .pcap(let isNextGeneration, let linkType):
            let name = isNextGeneration ? "a pcapng file" : "a pcap file"
            return switch linkType {
            case nil, 201, 254: "is \(name); convert it with: editcap -F btsnoop '\(file)' '\(file).btsnoop'"
            case 187:
                "is \(name) of link type 187, which has no direction of its packets, so that no program converts it; "
                    + Self.recordAgain
            case let type? where [186, 189, 220, 249].contains(type):
                "is \(name) of USB (link type \(type)), in which packets of an adapter may be, but no program converts it; "
                    + Self.recordAgain
            case let type? where [251, 256, 272].contains(type):
                "is \(name) of a sniffer (link type \(type)), whose packets come from no adapter; \(Self.recordAgain)"
            case let type?: "is \(name) of link type \(type), which is not Bluetooth"
            }
        case .packetLogger: return "is a file of Apple's PacketLogger; open it there, and export it as btsnoop"
        case .hcidump:
            return "is a file of 'hcidump -w'; convert it with: editcap -F btsnoop '\(file)' '\(file).btsnoop'"
        case .compressed(let name, let command):
            return "is compressed (\(name)); unpack it with: \(command) '\(file)' > '\(file).btsnoop'"
        case .zipArchive:
            return
                "is a zip archive; unpack it (a bug report of Android has the capture in FS/data/misc/bluetooth/logs)"
        case .json: return "is a text, not a capture; regions are given with --regions FILE"
        case .text: return "is a text, not a capture, such as btmon and hcidump print it; \(Self.recordAgain)"
        }
    }

    private static let recordAgain = "record with 'ibeacon-gateway scan --write FILE' or 'btmon -w FILE'"
}
