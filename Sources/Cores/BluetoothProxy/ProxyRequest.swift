/// What a client asks for. Of its messages only what the answer needs is read.
enum ProxyRequest: Equatable {
    case hello(name: String, isDialTarget: Bool)
    case disconnect
    /// The answer to our own `disconnect`.
    case disconnected
    case ping
    case deviceInfo
    case entities
    case time
    case capabilities
    /// Packets of all devices.
    case subscribe(isRaw: Bool)
    case unsubscribe
    case setMode(ProxyScan.Mode)
    /// A connection to a device, its end, pairing and so on: what is asked is in the number.
    case device(address: UInt64, DeviceRequest)
    /// A value of a device to which no connection can exist.
    case attribute(address: UInt64, handle: UInt32)
    case connectionParameters(address: UInt64)
    case freeConnections
    /// What needs no answer, and what is not known.
    case other

    enum DeviceRequest: UInt64 {
        case connect = 0
        case disconnect = 1
        case pair = 2
        case unpair = 3
        case connectWithCache = 4
        case connectWithoutCache = 5
        case clearCache = 6
    }

    /// - Parameters:
    ///   - type: The number of the message.
    ///   - payload: Protocol Buffers.
    init(type: UInt16, payload: ArraySlice<UInt8>) throws(ProtobufReader.Malformed) {
        let fields = try Fields(payload)
        switch type {
        case 1: self = .hello(name: Self.text(fields.first), isDialTarget: fields.numbers[3] != 0)
        case 5: self = .disconnect
        case 6: self = .disconnected
        case 7: self = .ping
        case 9: self = .deviceInfo
        case 11: self = .entities
        case 36: self = .time
        case 66: self = .subscribe(isRaw: fields.numbers[0] & 1 != 0)
        case 68:
            let request = DeviceRequest(rawValue: fields.numbers[1])
            self = request.map { .device(address: fields.numbers[0], $0) } ?? .other
        case 70, 73, 75...78:
            self = .attribute(address: fields.numbers[0], handle: UInt32(truncatingIfNeeded: fields.numbers[1]))
        case 80: self = .freeConnections
        case 87: self = .unsubscribe
        case 127: self = .setMode(fields.numbers[0] == 1 ? .active : .passive)
        case 145: self = .connectionParameters(address: fields.numbers[0])
        case 149: self = .capabilities
        default: self = .other
        }
    }

    /// The text of a client, for people: at most 64 bytes, and `?` for all that is no printable ASCII.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes.prefix(64).map { (0x20..<0x7f).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }

    /// The first four fields of a message, which is all that the answers need.
    private struct Fields {
        /// By field, from 1 on.
        var numbers: [UInt64] = [0, 0, 0, 0]
        /// The bytes of field 1.
        var first: ArraySlice<UInt8> = []

        init(_ payload: ArraySlice<UInt8>) throws(ProtobufReader.Malformed) {
            var reader = ProtobufReader(payload)
            while let (field, value) = try reader.next() {
                switch value {
                case .number(let number) where field <= 4: numbers[Int(field) - 1] = number
                case .bytes(let bytes) where field == 1: first = bytes
                default: break
                }
            }
        }
    }
}
