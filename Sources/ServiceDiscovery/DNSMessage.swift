/// Questions and answers of multicast DNS (RFC 6762) about services (RFC 6763), as far as finding a broker needs them.
package enum DNSMessage {
    /// Record types of RFC 1035, 3.2.2, and RFC 2782.
    package enum RecordType: UInt16, Sendable {
        case address = 1
        case pointer = 12
        case service = 33
    }

    /// A record that answers.
    package enum Record: Hashable, Sendable {
        /// An instance of a service: `_mqtt._tcp.local` is `Broker._mqtt._tcp.local`.
        case pointer(name: String, target: String)
        /// Where an instance is.
        case service(name: String, host: String, port: UInt16)
        /// IPv4.
        case address(name: String, [UInt8])
    }

    /// One question. It asks for an answer to the asking socket alone (RFC 6762, 5.4), so that no port is shared with
    /// the machine's own responder.
    ///
    /// - Returns: nil if the name is none: empty labels, or labels over 63 bytes.
    package static func question(_ name: String, _ type: RecordType) -> [UInt8]? {
        var bytes: [UInt8] = [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
        for label in name.split(separator: ".", omittingEmptySubsequences: false) {
            guard (1...63).contains(label.utf8.count) else { return nil }
            bytes.append(UInt8(label.utf8.count))
            bytes += Array(label.utf8)
        }
        guard bytes.count <= 12 + 254 else { return nil }
        let unicastInternet: UInt16 = 0x8001
        return bytes + [0] + bigEndian(type.rawValue) + bigEndian(unicastInternet)
    }

    /// The records of an answer that are understood; nothing of a packet that is no answer or ends too soon before them.
    package static func records(in packet: [UInt8]) -> [Record] {
        var reader = DNSReader(packet)
        guard reader.skip(2), let flags = reader.uint16(), flags & 0x8000 != 0, let questions = reader.uint16(),
            let answers = reader.uint16(), let authorities = reader.uint16(), let additional = reader.uint16()
        else { return [] }
        for _ in 0..<questions {
            guard reader.name() != nil, reader.skip(4) else { return [] }
        }
        var records: [Record] = []
        for _ in 0..<(Int(answers) + Int(authorities) + Int(additional)) {
            guard reader.record(into: &records) else { break }
        }
        return records
    }

    private static func bigEndian(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xff)] }
}

/// A place in a packet from outside; every step says whether it was possible.
private struct DNSReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func skip(_ count: Int) -> Bool {
        guard bytes.count - position >= count else { return false }
        position += count
        return true
    }

    mutating func uint16() -> UInt16? {
        guard bytes.count - position >= 2 else { return nil }
        defer { position += 2 }
        return UInt16(bytes[position]) << 8 | UInt16(bytes[position + 1])
    }

    /// A name with its compression undone (RFC 1035, 4.1.4).
    mutating func name() -> String? {
        var labels: [String] = []
        var length = 0
        var place = position
        var end: Int?
        while true {
            guard place < bytes.count else { return nil }
            let size = Int(bytes[place])
            if size == 0 {
                position = end ?? place + 1
                return labels.joined(separator: ".")
            }
            if size & 0xc0 == 0xc0 {
                guard place + 1 < bytes.count else { return nil }
                let target = (size & 0x3f) << 8 | Int(bytes[place + 1])
                // Only backwards, or two pointers could chase each other for ever.
                guard target < place else { return nil }
                if end == nil { end = place + 2 }
                place = target
                continue
            }
            guard size < 64, place + 1 + size <= bytes.count else { return nil }
            length += size + 1
            guard length <= 255 else { return nil }
            labels.append(String(decoding: bytes[(place + 1)...(place + size)], as: UTF8.self))
            place += size + 1
        }
    }

    /// Reads one record, and adds it if it is of a kind that is wanted.
    mutating func record(into records: inout [DNSMessage.Record]) -> Bool {
        guard let name = name(), let type = uint16(), skip(6), let size = uint16() else { return false }
        guard bytes.count - position >= Int(size) else { return false }
        let end = position + Int(size)
        defer { position = end }
        switch DNSMessage.RecordType(rawValue: type) {
        case .pointer:
            if let target = self.name() { records.append(.pointer(name: name, target: target)) }
        case .service:
            if skip(4), let port = uint16(), let host = self.name() {
                records.append(.service(name: name, host: host, port: port))
            }
        case .address:
            if size == 4 { records.append(.address(name: name, Array(bytes[position..<end]))) }
        case nil: break
        }
        return true
    }
}
