import TestSupport
import Testing

@testable import Scanning

@Suite struct ForeignCaptureTests {
    private static func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = Array(hexadecimal.filter { $0 != " " })
        return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0..<$0 + 2]), radix: 16) }
    }

    private static let pcap = "0200 0400 00000000 00000000 00000400"
    private static let section = "0a0d0d0a 1c000000 4d3c2b1a 0100 0000 ffffffffffffffff 1c000000 01000000 14000000"

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let head: String
        let kind: ForeignCapture?
        let words: String
    }

    static let rows: [Row] = [
        Row(
            testDescription: "pcap, 201", head: "d4c3b2a1 \(pcap) c9000000",
            kind: .pcap(isNextGeneration: false, linkType: 201),
            words: "is a pcap file; convert it with: editcap -F btsnoop 'x y' 'x y.btsnoop'"),
        Row(
            testDescription: "pcap, nanoseconds, big endian, 254",
            head: "a1b23c4d 0002 0004 00000000 00000000 00040000 000000fe",
            kind: .pcap(isNextGeneration: false, linkType: 254), words: "editcap -F btsnoop"),
        Row(
            testDescription: "pcap, 187", head: "d4c3b2a1 \(pcap) bb000000",
            kind: .pcap(isNextGeneration: false, linkType: 187),
            words: "link type 187, which has no direction"),
        Row(
            testDescription: "pcap, 251", head: "d4c3b2a1 \(pcap) fb000000",
            kind: .pcap(isNextGeneration: false, linkType: 251),
            words: "of a sniffer (link type 251)"),
        Row(
            testDescription: "pcap, Ethernet", head: "d4c3b2a1 \(pcap) 01000000",
            kind: .pcap(isNextGeneration: false, linkType: 1),
            words: "link type 1, which is not Bluetooth"),
        Row(
            testDescription: "pcap, cut", head: "d4c3b2a1 \(pcap)", kind: .pcap(isNextGeneration: false, linkType: nil),
            words: "editcap -F btsnoop"),
        Row(
            testDescription: "pcapng, 201", head: "\(section) c900 0000",
            kind: .pcap(isNextGeneration: true, linkType: 201),
            words: "is a pcapng file; convert it"),
        Row(
            testDescription: "pcapng, 272", head: "\(section) 1001 0000",
            kind: .pcap(isNextGeneration: true, linkType: 272),
            words: "of a sniffer"),
        Row(
            testDescription: "pcapng, cut", head: "0a0d0d0a 1c000000 4d3c2b1a 0100 0000",
            kind: .pcap(isNextGeneration: true, linkType: nil),
            words: "is a pcapng file"),
        Row(
            testDescription: "hcidump -w", head: "2d00 01 00 5ea1d265 40420100 04 3e2a02", kind: .hcidump,
            words: "is a file of 'hcidump -w'; convert it with: editcap"),
        Row(
            testDescription: "hcidump -w, a command first", head: "0700 00 00 5ea1d265 40420100 01 0b2003 000000",
            kind: .hcidump, words: "is a file of 'hcidump -w'"),
        Row(
            testDescription: "hcidump -w, whole", head: "2d00 01 00 5ea1d265 40420100 04 3e2a02 010301",
            kind: .hcidump, words: "is a file of 'hcidump -w'"),
        Row(
            testDescription: "PacketLogger, little endian, an event first",
            head: "35000000 5ea1d265 40420100 01 3e2a02 010301", kind: .packetLogger, words: "Apple's PacketLogger"),
        Row(
            testDescription: "PacketLogger", head: "00000037 65d2a15e 00014240 01 3e2a02", kind: .packetLogger,
            words: "export it as btsnoop"),
        Row(
            testDescription: "PacketLogger, little endian", head: "37000000 5ea1d265 40420100 fc 3e2a02",
            kind: .packetLogger,
            words: "Apple's PacketLogger"),
        Row(
            testDescription: "gzip", head: "1f8b0800 00000000 0003", kind: .compressed("gzip", command: "zcat"),
            words: "unpack it with: zcat 'x y' > 'x y.btsnoop'"),
        Row(
            testDescription: "zstd", head: "28b52ffd 00", kind: .compressed("zstd", command: "zstdcat"),
            words: "zstdcat"),
        Row(testDescription: "xz", head: "fd377a58 5a00", kind: .compressed("xz", command: "xzcat"), words: "xzcat"),
        Row(
            testDescription: "bzip2", head: "425a6839 31", kind: .compressed("bzip2", command: "bzcat"), words: "bzcat"),
        Row(testDescription: "zip", head: "504b0304 14", kind: .zipArchive, words: "bug report of Android"),
        Row(
            testDescription: "pcap, modified, 201", head: "34cdb2a1 \(pcap) c9000000",
            kind: .pcap(isNextGeneration: false, linkType: 201), words: "editcap -F btsnoop"),
        Row(
            testDescription: "pcap, usbmon", head: "d4c3b2a1 \(pcap) dc000000",
            kind: .pcap(isNextGeneration: false, linkType: 220), words: "of USB (link type 220)"),
        Row(
            testDescription: "lz4", head: "04224d18 64", kind: .compressed("lz4", command: "lz4cat"), words: "lz4cat"),
        Row(
            testDescription: "7z", head: "377abcaf 271c", kind: .compressed("7z", command: "7z x -so"),
            words: "7z x -so 'x y' > 'x y.btsnoop'"),
        Row(
            testDescription: "compress", head: "1f9d90", kind: nil, words: "is not a btsnoop capture"),
        Row(
            testDescription: "compress, whole", head: "1f9d9062", kind: .compressed("compress", command: "zcat"),
            words: "zcat"),
        Row(
            testDescription: "lzip", head: "4c5a4950 01", kind: .compressed("lzip", command: "lzip -dc"),
            words: "lzip -dc"),
        Row(testDescription: "JSON", head: "7b225f74 797065", kind: .json, words: "--regions FILE"),
        Row(
            testDescription: "what btmon prints", head: "426c7565 746f6f74 68206d6f 6e69746f 72207665 7220352e 36360a",
            kind: .text, words: "such as btmon and hcidump print it; record with"),
        Row(
            testDescription: "anything else", head: "48656c6c 6f002077 6f726c64 212121", kind: nil,
            words: "is not a btsnoop capture"),
        Row(testDescription: "nothing", head: "", kind: nil, words: "is not a btsnoop capture"),
    ]

    @Test(arguments: rows) func `A file of another kind is named by its first bytes, with the command that converts it`(
        row: Row
    ) {
        let bytes = Self.bytes(row.head)
        let kind = ForeignCapture(bytes.span)
        #expect(kind == row.kind)
        let error = CaptureError(file: "x y", reason: kind.map { .foreign($0) } ?? .notBtsnoop)
        #expect(error.isTotal)
        #expect(error.description.contains(row.words), "\(error)")
    }

    @Test func `Any first bytes are a kind or none`() {
        var random = SplitMix64(seed: 55)
        let heads = Self.rows.map { Self.bytes($0.head) }
        for _ in 0..<5_000 {
            var bytes = heads.randomElement(using: &random) ?? []
            bytes = Array(bytes.prefix(Int.random(in: 0...40, using: &random)))
            if let index = bytes.indices.randomElement(using: &random) {
                bytes[index] = .random(in: .min ... .max, using: &random)
            }
            _ = ForeignCapture(bytes.span)?.text(for: "x")
        }
    }
}
