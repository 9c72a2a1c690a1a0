/// The properties of MQTT 5 that a broker may send: in which packets, with how many bytes, and how often (section 2.2.2.2,
/// table 2-4). Pure.
///
/// libmosquitto before 2.0.16 writes of a property that does not exist to the log of a client that is NULL, which ends the process.
/// It compares each property with each later one, and copies it: one message with a million properties would occupy its thread
/// for hours.
enum PacketProperties {
    /// Properties of one packet that libmosquitto may be given.
    static let most = 256

    /// Why a broker may not send them.
    enum Fault: Error, Hashable {
        case unknown(UInt8)
        /// It exists, and not in this packet.
        case misplaced(UInt8)
        case duplicate(UInt8)
        /// They do not end where their length says.
        case malformed
        /// More than `PacketProperties.most`.
        case tooMany
    }

    /// How a value is encoded (section 2.2.2.2).
    private enum Encoding {
        case bytes(Int)
        case variableInteger
        /// Text or binary data, behind two bytes of length.
        case counted
        case pairOfTexts
    }

    private struct Rule {
        let encoding: Encoding
        let packets: Set<PacketType>
    }

    /// A packet of a broker that may have properties, by the upper four bits of its first byte (section 2.1.2).
    enum PacketType: UInt8, CaseIterable {
        case connack = 2
        case publish = 3
        case puback = 4
        case pubrec = 5
        case pubrel = 6
        case pubcomp = 7
        case suback = 9
        case unsuback = 11
        case disconnect = 14
        case auth = 15

        /// The index of the length of the properties behind the fixed header, or nil if this packet is too short to have any.
        /// Not for PUBLISH, whose topic comes first.
        func propertiesIndex(inPacketOf length: Int) -> Int? {
            switch self {
            case .publish: nil
            // Two bytes are the answer of a broker without MQTT 5.
            case .connack: length > 2 ? 2 : nil
            case .puback, .pubrec, .pubrel, .pubcomp: length > 3 ? 3 : nil
            case .suback, .unsuback: length > 2 ? 2 : nil
            case .disconnect, .auth: length > 1 ? 1 : nil
            }
        }
    }

    private static let everywhere = Set(PacketType.allCases)

    private static let rules: [UInt8: Rule] = [
        // Payload Format Indicator, Message Expiry Interval, Content Type, Response Topic, Correlation Data
        0x01: Rule(encoding: .bytes(1), packets: [.publish]),
        0x02: Rule(encoding: .bytes(4), packets: [.publish]),
        0x03: Rule(encoding: .counted, packets: [.publish]),
        0x08: Rule(encoding: .counted, packets: [.publish]),
        0x09: Rule(encoding: .counted, packets: [.publish]),
        // Subscription Identifier
        0x0b: Rule(encoding: .variableInteger, packets: [.publish]),
        // Session Expiry Interval
        0x11: Rule(encoding: .bytes(4), packets: [.connack, .disconnect]),
        // Assigned Client Identifier, Server Keep Alive
        0x12: Rule(encoding: .counted, packets: [.connack]),
        0x13: Rule(encoding: .bytes(2), packets: [.connack]),
        // Authentication Method, Authentication Data
        0x15: Rule(encoding: .counted, packets: [.connack, .auth]),
        0x16: Rule(encoding: .counted, packets: [.connack, .auth]),
        // Request Problem Information, Will Delay Interval, Request Response Information: of clients alone
        0x17: Rule(encoding: .bytes(1), packets: []),
        0x18: Rule(encoding: .bytes(4), packets: []),
        0x19: Rule(encoding: .bytes(1), packets: []),
        // Response Information, Server Reference
        0x1a: Rule(encoding: .counted, packets: [.connack]),
        0x1c: Rule(encoding: .counted, packets: [.connack, .disconnect]),
        // Reason String
        0x1f: Rule(encoding: .counted, packets: everywhere.subtracting([.publish])),
        // Receive Maximum, Topic Alias Maximum
        0x21: Rule(encoding: .bytes(2), packets: [.connack]),
        0x22: Rule(encoding: .bytes(2), packets: [.connack]),
        // Topic Alias
        0x23: Rule(encoding: .bytes(2), packets: [.publish]),
        // Maximum QoS, Retain Available
        0x24: Rule(encoding: .bytes(1), packets: [.connack]),
        0x25: Rule(encoding: .bytes(1), packets: [.connack]),
        // User Property
        0x26: Rule(encoding: .pairOfTexts, packets: everywhere),
        // Maximum Packet Size; Wildcard, Subscription Identifiers and Shared Subscriptions Available
        0x27: Rule(encoding: .bytes(4), packets: [.connack]),
        0x28: Rule(encoding: .bytes(1), packets: [.connack]),
        0x29: Rule(encoding: .bytes(1), packets: [.connack]),
        0x2a: Rule(encoding: .bytes(1), packets: [.connack]),
    ]

    /// A User Property may come several times, and a PUBLISH has a Subscription Identifier for each subscription that it matches
    /// (section 3.3.2.3.8).
    private static let mayRepeat: Set<UInt8> = [0x0b, 0x26]

    /// - Parameter bytes: All properties of a packet, without their length.
    static func check(_ bytes: ArraySlice<UInt8>, of packet: PacketType) throws(Fault) {
        var rest = bytes
        var seen: Set<UInt8> = []
        var count = 0
        while let identifier = rest.popFirst() {
            guard let rule = rules[identifier] else { throw .unknown(identifier) }
            guard rule.packets.contains(packet) else { throw .misplaced(identifier) }
            guard seen.insert(identifier).inserted || mayRepeat.contains(identifier) else {
                throw .duplicate(identifier)
            }
            guard skip(rule.encoding, of: &rest) else { throw .malformed }
            count += 1
            guard count <= most else { throw .tooMany }
        }
    }

    /// Takes one value away.
    /// - Returns: whether it is whole.
    private static func skip(_ encoding: Encoding, of rest: inout ArraySlice<UInt8>) -> Bool {
        switch encoding {
        case .bytes(let count):
            guard rest.count >= count else { return false }
            rest = rest.dropFirst(count)
            return true
        case .variableInteger: return variableInteger(of: &rest) != nil
        case .counted: return skipCounted(of: &rest)
        case .pairOfTexts: return skipCounted(of: &rest) && skipCounted(of: &rest)
        }
    }

    private static func skipCounted(of rest: inout ArraySlice<UInt8>) -> Bool {
        guard let high = rest.popFirst(), let low = rest.popFirst() else { return false }
        let count = Int(high) << 8 | Int(low)
        guard rest.count >= count else { return false }
        rest = rest.dropFirst(count)
        return true
    }

    /// MQTT's variable byte integer (section 1.5.5); nil if it does not end, here or within four bytes.
    static func variableInteger(of rest: inout ArraySlice<UInt8>) -> Int? {
        var value = 0
        for index in 0..<4 {
            guard let byte = rest.popFirst() else { return nil }
            value |= Int(byte & 0x7f) << (7 * index)
            if byte & 0x80 == 0 { return value }
        }
        return nil
    }
}

extension PacketProperties.Fault: CustomStringConvertible {
    var description: String {
        switch self {
        case .unknown(let identifier): "property \(identifier) does not exist in MQTT 5"
        case .misplaced(let identifier): "property \(identifier) does not belong there"
        case .duplicate(let identifier): "property \(identifier) comes twice"
        case .malformed: "its properties do not end where their length says"
        case .tooMany: "it has more than \(PacketProperties.most) properties"
        }
    }
}

extension PacketProperties.PacketType: CustomStringConvertible {
    /// The name in the specification.
    var description: String {
        switch self {
        case .connack: "CONNACK"
        case .publish: "PUBLISH"
        case .puback: "PUBACK"
        case .pubrec: "PUBREC"
        case .pubrel: "PUBREL"
        case .pubcomp: "PUBCOMP"
        case .suback: "SUBACK"
        case .unsuback: "UNSUBACK"
        case .disconnect: "DISCONNECT"
        case .auth: "AUTH"
        }
    }
}
