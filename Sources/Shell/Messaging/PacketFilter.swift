/// Watches the bytes that a broker sends before libmosquitto reads them. Pure: bytes in, bytes out.
///
/// libmosquitto (2.0.11 to 2.1.2, `packet__read`) allocates what a packet's length announces, up to 256 MiB, and copies
/// the payload once more. A broker delivers a QoS 1 message again until it is acknowledged, so a message that does not
/// fit into memory would end the process at every start. The filter takes the payload out of a PUBLISH that is too
/// large and lets the rest pass: libmosquitto acknowledges it like any other, and the broker deletes it.
///
/// With MQTT 5 it also checks the properties of each packet (`PacketProperties`). Those of a PUBLISH pass no further: nothing here
/// uses them, any client may have put a million of them there, and a packet that ended the connection would come again on the next.
struct PacketFilter {
    /// Bytes of a packet with properties, other than PUBLISH. Its longest lawful content are two texts of 64 KiB beside small values.
    static let largestAnswer = 256 << 10
    /// Bytes of the properties of a PUBLISH that are looked at: a response topic and correlation data have 64 KiB each. Longer ones
    /// are dropped without.
    static let largestProperties = 192 << 10

    /// A PUBLISH that lost its payload.
    struct Cut: Hashable {
        /// Its topic as it came; not checked to be UTF-8.
        let topic: [UInt8]
        /// Bytes of the whole packet.
        let size: Int
    }

    /// The broker sent a packet that is not allowed here. The connection must end.
    enum Violation: Error, Hashable {
        /// A length of more than four bytes (MQTT 5, section 1.5.5).
        case malformedLength
        /// A packet other than PUBLISH over the limit.
        case oversizePacket(type: UInt8)
        /// A packet that only clients send, or of type 0: libmosquitto (2.0.11 to 2.1.2) takes a first byte of 0 for none, and the bytes
        /// behind it for other packets than the filter does.
        case unknownPacket(type: UInt8)
        /// A QoS 2 message. Nothing is subscribed to with more than QoS 1, so none may come (MQTT 3.1.1, section
        /// 3.8.4), and libmosquitto would keep each in memory until its PUBREL.
        case exactlyOnce
        /// A CONNACK that does not have the two bytes of MQTT before 5 (MQTT 3.1.1, section 3.2.1). libmosquitto ignores what follows, and
        /// would take a broker that speaks something else for one that accepts.
        case answerLength(Int)
        /// A second CONNACK.
        case secondAnswer
        /// Another packet than CONNACK comes first (MQTT 3.1.1, section 3.2): most probably the other side does not speak MQTT. libmosquitto
        /// would wait for the rest of it.
        case noAnswer
        /// Properties that this packet must not have.
        case properties(PacketProperties.Fault, of: PacketProperties.PacketType)
    }

    private enum State {
        /// Collecting the first byte and the length.
        case header
        /// Bytes of the packet that pass as they are.
        case passing(Int)
        /// Collecting topic and packet identifier of a PUBLISH over the limit, or of MQTT 5; bytes of the packet that follow.
        case variableHeader(Int)
        /// Collecting the length of the properties of a PUBLISH; bytes of the packet that follow.
        case propertiesLength(Int)
        /// Collecting the properties of a PUBLISH; their bytes that follow, and the bytes of the payload.
        case properties(Int, payload: Int)
        /// Collecting a packet that may have properties; bytes of it that follow.
        case collecting(Int, PacketProperties.PacketType)
        /// Bytes that are dropped, and bytes of the packet that pass after them.
        case dropping(Int, thenPassing: Int)
    }

    private let limit: Int
    private let hasProperties: Bool
    private var state = State.header
    /// Whether the broker has answered CONNECT.
    private var hasAnswered = false
    /// The fixed header so far, at most five bytes.
    private var header: [UInt8] = []
    /// The variable header so far, at most 65,539 bytes.
    private var variable: [UInt8] = []
    /// What was collected behind it: properties, their length, or a whole packet.
    private var collected: [UInt8] = []
    private var length = 0
    /// Messages that were cut since the owner last took them.
    private(set) var cuts: [Cut] = []

    /// - Parameters:
    ///   - limit: bytes of a whole packet.
    ///   - hasProperties: the connection speaks MQTT 5.
    init(limit: Int, hasProperties: Bool) {
        self.limit = limit
        self.hasProperties = hasProperties
    }

    mutating func drainCuts() -> [Cut] {
        defer { cuts = [] }
        return cuts
    }

    /// Appends the part of `input` that libmosquitto may read to `output`: at most the size of `input`, of a variable header, and
    /// of a packet that was collected.
    mutating func pass(_ input: ArraySlice<UInt8>, to output: inout [UInt8]) throws(Violation) {
        var rest = input
        while let first = rest.first {
            switch state {
            case .header:
                rest = rest.dropFirst()
                header.append(first)
                try readHeader(&output)
            case .passing(let count):
                let part = rest.prefix(count)
                output += part
                rest = rest.dropFirst(part.count)
                state = part.count == count ? .header : .passing(count - part.count)
            case .variableHeader(let count):
                rest = rest.dropFirst()
                variable.append(first)
                state = .variableHeader(count - 1)
                continueIfComplete(&output)
            case .propertiesLength(let count):
                rest = rest.dropFirst()
                collected.append(first)
                try readPropertiesLength(rest: count - 1, &output)
            case .properties(let count, let payload):
                let part = rest.prefix(count)
                collected += part
                rest = rest.dropFirst(part.count)
                state = .properties(count - part.count, payload: payload)
                if part.count == count { try checkProperties(payload: payload, &output) }
            case .collecting(let count, let type):
                let part = rest.prefix(count)
                collected += part
                rest = rest.dropFirst(part.count)
                state = .collecting(count - part.count, type)
                if part.count == count { try checkPacket(of: type, &output) }
            case .dropping(let count, let passing):
                let dropped = min(count, rest.count)
                rest = rest.dropFirst(dropped)
                state = .dropping(count - dropped, thenPassing: passing)
                if dropped == count { pass(passing) }
            }
        }
    }

    /// Lets so many bytes of the packet pass.
    private mutating func pass(_ count: Int) { state = count == 0 ? .header : .passing(count) }

    private mutating func readHeader(_ output: inout [UInt8]) throws(Violation) {
        let kind = header[0] >> 4
        guard PacketProperties.PacketType(rawValue: kind) != nil || kind == 13 else { throw .unknownPacket(type: kind) }
        guard hasAnswered || mayComeFirst(kind) else { throw .noAnswer }
        guard header.count > 1, let last = header.last else { return }
        guard last & 0x80 == 0 else {
            guard header.count < 5 else { throw .malformedLength }
            return
        }
        length = header.dropFirst().enumerated().reduce(0) { $0 + Int($1.element & 0x7f) << (7 * $1.offset) }
        if kind == PacketProperties.PacketType.connack.rawValue { try checkAnswer() }
        let isPublish = kind == 3
        if isPublish, header[0] & 0b110 == 0b100 { throw .exactlyOnce }
        let type = hasProperties ? PacketProperties.PacketType(rawValue: header[0] >> 4) : nil
        variable = []
        collected = []
        if header.count + length <= limit {
            switch type {
            case .publish? where length > 0: state = .variableHeader(length)
            case let type? where type.propertiesIndex(inPacketOf: length) != nil:
                guard length <= Self.largestAnswer else { throw .oversizePacket(type: type.rawValue) }
                state = .collecting(length, type)
            default:
                output += header
                header = []
                pass(length)
            }
        } else {
            guard isPublish else { throw .oversizePacket(type: header[0] >> 4) }
            state = .variableHeader(length)
        }
    }

    /// Whether a broker may send this packet before it has answered CONNECT.
    private func mayComeFirst(_ kind: UInt8) -> Bool {
        switch PacketProperties.PacketType(rawValue: kind) {
        case .connack: true
        case .auth, .disconnect: hasProperties
        default: false
        }
    }

    /// The fixed header of a CONNACK is there.
    private mutating func checkAnswer() throws(Violation) {
        guard !hasAnswered else { throw .secondAnswer }
        guard hasProperties || length == 2 else { throw .answerLength(length) }
        hasAnswered = true
    }

    /// Goes on once the topic and the packet identifier of a PUBLISH are there.
    private mutating func continueIfComplete(_ output: inout [UInt8]) {
        guard case .variableHeader(let rest) = state else { return }
        let isWithinLimit = header.count + length <= limit
        // It ends before: libmosquitto refuses it as it is.
        if rest == 0, isWithinLimit { return forward(variable, payload: 0, &output) }
        guard variable.count >= 2 else { return }
        let topicLength = Int(variable[0]) << 8 | Int(variable[1])
        let identifier = header[0] & 0b110 == 0 ? 0 : 2
        guard variable.count == 2 + topicLength + identifier || rest == 0 else { return }
        guard !isWithinLimit else {
            state = .propertiesLength(rest)
            return
        }
        cuts.append(Cut(topic: Array(variable.dropFirst(2).prefix(topicLength)), size: header.count + length))
        // In MQTT 5 the length of no properties follows.
        forward(variable + (hasProperties ? [0] : []), payload: 0, &output)
        if rest > 0 { state = .dropping(rest, thenPassing: 0) }
    }

    private mutating func readPropertiesLength(rest: Int, _ output: inout [UInt8]) throws(Violation) {
        state = .propertiesLength(rest)
        guard collected.last.map({ $0 & 0x80 == 0 }) == true else {
            guard collected.count < 4, rest > 0 else { throw .properties(.malformed, of: .publish) }
            return
        }
        var bytes = collected[...]
        guard let count = PacketProperties.variableInteger(of: &bytes), count <= rest else {
            throw .properties(.malformed, of: .publish)
        }
        collected = []
        if count == 0 || count > Self.largestProperties {
            forward(variable + [0], payload: rest - count, &output)
            if count > 0 { state = .dropping(count, thenPassing: rest - count) }
        } else {
            state = .properties(count, payload: rest - count)
        }
    }

    private mutating func checkProperties(payload: Int, _ output: inout [UInt8]) throws(Violation) {
        do throws(PacketProperties.Fault) {
            try PacketProperties.check(collected[...], of: .publish)
        } catch {
            // Any client may have sent so many; the broker only passes them on.
            guard error == .tooMany else { throw .properties(error, of: .publish) }
        }
        forward(variable + [0], payload: payload, &output)
    }

    private mutating func checkPacket(
        of type: PacketProperties.PacketType, _ output: inout [UInt8]
    ) throws(Violation) {
        if let index = type.propertiesIndex(inPacketOf: length) {
            var rest = collected.dropFirst(index)
            guard let count = PacketProperties.variableInteger(of: &rest), count <= rest.count else {
                throw .properties(.malformed, of: type)
            }
            do throws(PacketProperties.Fault) {
                try PacketProperties.check(rest.prefix(count), of: type)
            } catch {
                throw .properties(error, of: type)
            }
        }
        output += header
        output += collected
        header = []
        collected = []
        state = .header
    }

    /// Passes a PUBLISH on that begins with `body`, and lets so many bytes of its payload follow.
    private mutating func forward(_ body: [UInt8], payload: Int, _ output: inout [UInt8]) {
        output.append(header[0])
        output += Self.encoded(length: body.count + payload)
        output += body
        header = []
        variable = []
        collected = []
        pass(payload)
    }

    /// MQTT's variable byte integer (MQTT 5, section 1.5.5).
    private static func encoded(length: Int) -> [UInt8] {
        var rest = length
        var bytes: [UInt8] = []
        repeat {
            let byte = UInt8(truncatingIfNeeded: rest & 0x7f)
            rest >>= 7
            bytes.append(rest > 0 ? byte | 0x80 : byte)
        } while rest > 0
        return bytes
    }
}

extension PacketFilter.Violation: CustomStringConvertible {
    var description: String {
        switch self {
        case .malformedLength: "a packet whose length has more than four bytes"
        case .unknownPacket(let type): "a packet of type \(type), which brokers do not send"
        case .oversizePacket(let type): "a packet of type \(type) that is too large"
        case .exactlyOnce: "a message with QoS 2"
        case .answerLength(let count): "a CONNACK of \(count) bytes, where MQTT 3.1.1 has two"
        case .secondAnswer: "a second CONNACK"
        case .noAnswer: "something else than an answer to CONNECT (does another program than a broker listen there?)"
        case .properties(let fault, let packet): "an invalid \(packet): \(fault)"
        }
    }
}
