/// Watches the bytes that a broker sends before libmosquitto reads them. Pure: bytes in, bytes out.
///
/// libmosquitto (2.0.11 to 2.1.2, `packet__read`) allocates what a packet's length announces, up to 256 MiB, and copies
/// the payload once more. A broker delivers a QoS 1 message again until it is acknowledged, so a message that does not
/// fit into memory would end the process at every start. The filter takes the payload out of a PUBLISH that is too
/// large and lets the rest pass: libmosquitto acknowledges it like any other, and the broker deletes it.
struct PacketFilter {
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
        /// A QoS 2 message. Nothing is subscribed to with more than QoS 1, so none may come (MQTT 3.1.1, section
        /// 3.8.4), and libmosquitto would keep each in memory until its PUBREL.
        case exactlyOnce
    }

    private enum State {
        /// Collecting the first byte and the length.
        case header
        /// Bytes of the packet that pass as they are.
        case passing(Int)
        /// Collecting topic and packet identifier of a PUBLISH over the limit; bytes of the packet that follow.
        case variableHeader(Int)
        /// Bytes of a payload that are dropped.
        case dropping(Int)
    }

    private let limit: Int
    private let hasProperties: Bool
    private var state = State.header
    /// The fixed header so far, at most five bytes.
    private var header: [UInt8] = []
    /// The variable header so far, at most 65,539 bytes.
    private var variable: [UInt8] = []
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

    /// Appends the part of `input` that libmosquitto may read to `output`: at most the size of `input` and a variable
    /// header.
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
                cutIfComplete(&output)
            case .dropping(let count):
                let dropped = min(count, rest.count)
                rest = rest.dropFirst(dropped)
                state = dropped == count ? .header : .dropping(count - dropped)
            }
        }
    }

    private mutating func readHeader(_ output: inout [UInt8]) throws(Violation) {
        guard header.count > 1, let last = header.last else { return }
        guard last & 0x80 == 0 else {
            guard header.count < 5 else { throw .malformedLength }
            return
        }
        length = header.dropFirst().enumerated().reduce(0) { $0 + Int($1.element & 0x7f) << (7 * $1.offset) }
        let isPublish = header[0] >> 4 == 3
        if isPublish, header[0] & 0b110 == 0b100 { throw .exactlyOnce }
        if header.count + length <= limit {
            output += header
            header = []
            state = length == 0 ? .header : .passing(length)
        } else {
            guard isPublish else { throw .oversizePacket(type: header[0] >> 4) }
            variable = []
            state = .variableHeader(length)
        }
    }

    /// Passes the PUBLISH on without its payload once its topic and packet identifier are there.
    private mutating func cutIfComplete(_ output: inout [UInt8]) {
        guard case .variableHeader(let rest) = state, variable.count >= 2 else { return }
        let topicLength = Int(variable[0]) << 8 | Int(variable[1])
        let identifier = header[0] & 0b110 == 0 ? 0 : 2
        guard variable.count == 2 + topicLength + identifier || rest == 0 else { return }
        cuts.append(Cut(topic: Array(variable.dropFirst(2).prefix(topicLength)), size: header.count + length))
        // In MQTT 5 the length of no properties follows.
        let body = variable + (hasProperties ? [0] : [])
        output.append(header[0])
        output += Self.encoded(length: body.count)
        output += body
        header = []
        variable = []
        state = rest == 0 ? .header : .dropping(rest)
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
