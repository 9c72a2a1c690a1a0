import Testing

@testable import Messaging

/// MQTT 5, table 2-4, written out once more: what a broker may send, and in which packets.
@Suite struct PacketPropertiesTests {
    typealias PacketType = PacketProperties.PacketType

    /// A property with a value, and the packets of a broker that may have it.
    struct Row: Sendable {
        let bytes: [UInt8]
        let packets: Set<PacketType>

        init(_ bytes: [UInt8], _ packets: Set<PacketType>) {
            self.bytes = bytes
            self.packets = packets
        }
    }

    static let all = Set(PacketType.allCases)
    static let table: [Row] = [
        Row([0x01, 1], [.publish]), Row([0x02, 0, 0, 0, 9], [.publish]), Row([0x03, 0, 1, 0x61], [.publish]),
        Row([0x08, 0, 1, 0x61], [.publish]), Row([0x09, 0, 2, 0xff, 0], [.publish]), Row([0x0b, 0x80, 1], [.publish]),
        Row([0x11, 0, 0, 0, 9], [.connack, .disconnect]), Row([0x12, 0, 1, 0x61], [.connack]),
        Row([0x13, 0, 60], [.connack]),
        Row([0x15, 0, 1, 0x61], [.connack, .auth]), Row([0x16, 0, 1, 0xff], [.connack, .auth]),
        Row([0x17, 1], []), Row([0x18, 0, 0, 0, 9], []), Row([0x19, 1], []), Row([0x1a, 0, 1, 0x61], [.connack]),
        Row([0x1c, 0, 1, 0x61], [.connack, .disconnect]), Row([0x1f, 0, 1, 0x61], all.subtracting([.publish])),
        Row([0x21, 0, 20], [.connack]), Row([0x22, 0, 10], [.connack]), Row([0x23, 0, 1], [.publish]),
        Row([0x24, 1], [.connack]), Row([0x25, 1], [.connack]), Row([0x26, 0, 1, 0x61, 0, 0], all),
        Row([0x27, 0, 1, 0, 0], [.connack]), Row([0x28, 1], [.connack]), Row([0x29, 1], [.connack]),
        Row([0x2a, 1], [.connack]),
    ]

    /// A whole packet with these properties.
    static func packet(_ type: PacketType, _ properties: [UInt8]) -> [UInt8] {
        let section = PacketFilterTests.length(properties.count) + properties
        let body: [UInt8] =
            switch type {
            case .publish: [0, 1, 0x61, 0x12, 0x34] + section + [0x70]
            case .connack: [0, 0] + section
            case .puback, .pubrec, .pubrel, .pubcomp: [0x12, 0x34, 0] + section
            case .suback, .unsuback: [0x12, 0x34] + section + [0]
            case .disconnect, .auth: [0] + section
            }
        return [type.rawValue << 4 | (type == .publish || type == .pubrel ? 2 : 0)]
            + PacketFilterTests.length(body.count) + body
    }

    private func pass(_ bytes: [UInt8], chunk: Int = .max) throws(PacketFilter.Violation) -> [UInt8] {
        var filter = PacketFilter(limit: 8 << 20, hasProperties: true)
        var output: [UInt8] = []
        if bytes.first != 0x20 { try filter.pass([0x20, 3, 0, 0, 0], to: &output) }
        output = []
        var rest = bytes[...]
        while !rest.isEmpty {
            try filter.pass(rest.prefix(chunk), to: &output)
            rest = rest.dropFirst(chunk)
        }
        return output
    }

    /// What passes of a packet: those of a PUBLISH go.
    private func passing(_ type: PacketType, _ properties: [UInt8]) -> [UInt8] {
        Self.packet(type, type == .publish ? [] : properties)
    }

    @Test(arguments: PacketType.allCases)
    func `Each property passes in the packets of the table, and ends the connection in the others`(type: PacketType)
        throws
    {
        for row in Self.table {
            let packet = Self.packet(type, row.bytes)
            if row.packets.contains(type) {
                #expect(try pass(packet) == passing(type, row.bytes), "\(row.bytes[0]) in \(type)")
            } else {
                #expect(throws: PacketFilter.Violation.properties(.misplaced(row.bytes[0]), of: type)) {
                    try pass(packet)
                }
            }
        }
    }

    @Test(arguments: PacketType.allCases)
    func `All properties of a packet pass together, however the packet is divided`(type: PacketType) throws {
        let properties = Self.table.filter { $0.packets.contains(type) }.flatMap(\.bytes)
        let packet = Self.packet(type, properties)
        // A second CONNACK is not allowed.
        let (next, passed) = type == .connack ? ([0xd0, 0], [0xd0, 0]) : (packet, passing(type, properties))
        for chunk in [1, 2, 3, 7, .max] {
            #expect(try pass(packet + next, chunk: chunk) == passing(type, properties) + passed)
        }
    }

    @Test(arguments: PacketType.allCases)
    func `Any other identifier ends the connection`(type: PacketType) {
        let known = Set(Self.table.map { $0.bytes[0] })
        for identifier in (0...255 as ClosedRange<UInt8>) where !known.contains(identifier) {
            #expect(throws: PacketFilter.Violation.properties(.unknown(identifier), of: type)) {
                try pass(Self.packet(type, [identifier, 0, 0, 0, 0]))
            }
        }
    }

    @Test(arguments: PacketType.allCases)
    func `A property may come once, but for those of users and of subscriptions`(type: PacketType) throws {
        for row in Self.table where row.packets.contains(type) {
            let packet = Self.packet(type, row.bytes + row.bytes)
            if [0x0b, 0x26].contains(row.bytes[0]) {
                #expect(try pass(packet) == passing(type, row.bytes + row.bytes))
            } else {
                #expect(throws: PacketFilter.Violation.properties(.duplicate(row.bytes[0]), of: type)) {
                    try pass(packet)
                }
            }
        }
    }

    @Test(arguments: PacketType.allCases)
    func `A value that ends behind the properties ends the connection`(type: PacketType) {
        for row in Self.table where row.packets.contains(type) {
            for count in 1..<row.bytes.count {
                #expect(throws: PacketFilter.Violation.properties(.malformed, of: type)) {
                    try pass(Self.packet(type, Array(row.bytes.prefix(count))))
                }
            }
        }
    }

    @Test(
        arguments: [
            // The packet ends within its properties, and within their length.
            [0x20, 3, 0, 0, 1], [0x20, 4, 0, 0, 0x80, 0x80], [0x40, 4, 0, 1, 0, 9], [0xe0, 2, 0, 5],
            [0x90, 3, 0, 1, 9],
            [0x30, 5, 0, 1, 0x61, 2, 0x01], [0x30, 4, 0, 1, 0x61, 0x80],
            [0x30, 8, 0, 1, 0x61, 0x80, 0x80, 0x80, 0x80, 0],
        ] as [[UInt8]])
    func `Properties that are longer than their packet end the connection`(bytes: [UInt8]) {
        #expect {
            try pass(bytes)
        } throws: {
            guard case .properties(.malformed, _)? = $0 as? PacketFilter.Violation else { return false }
            return true
        }
    }

    @Test(
        arguments: [
            // The answer of a broker without MQTT 5, and packets in which the properties are left out.
            [0x20, 2, 0, 1], [0x40, 2, 0, 1], [0x40, 3, 0, 1, 0x10], [0x62, 2, 0, 1], [0xe0, 0], [0xe0, 1, 0x8b],
            [0xf0, 0],
            [0xd0, 0], [0x30, 0], [0x30, 2, 0, 1], [0x90, 2, 0, 1],
        ] as [[UInt8]])
    func `A packet without properties passes as it is`(bytes: [UInt8]) throws {
        #expect(try pass(bytes + [0xd0, 0]) == bytes + [0xd0, 0])
    }

    @Test func `A message with any number of properties passes without them`() throws {
        for count in [PacketProperties.most, PacketProperties.most + 1, 100_000] {
            let properties = [[UInt8]](repeating: [0x26, 0, 0, 0, 0], count: count).flatMap(\.self)
            #expect(try pass(Self.packet(.publish, properties)) == Self.packet(.publish, []))
        }
    }

    @Test func `Any other packet has a limit of properties, and of its size`() throws {
        func pass(count: Int) throws {
            _ = try self.pass(
                Self.packet(.connack, [[UInt8]](repeating: [0x26, 0, 0, 0, 0], count: count).flatMap(\.self)))
        }
        try pass(count: PacketProperties.most)
        #expect(throws: PacketFilter.Violation.properties(.tooMany, of: .connack)) {
            try pass(count: PacketProperties.most + 1)
        }
        #expect(throws: PacketFilter.Violation.oversizePacket(type: 2)) { try pass(count: 60_000) }
    }

    @Test func `The reason names the packet and the property`() {
        let violation = PacketFilter.Violation.properties(.unknown(127), of: .connack)
        #expect(violation.description == "an invalid CONNACK: property 127 does not exist in MQTT 5")
    }
}
