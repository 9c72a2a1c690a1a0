import Base
import Beacon

/// Packets that are sent together: the payload of a message 93, which all clients share.
struct PacketBatch {
    /// The most bytes of one packet's advertising data, those of an advertisement and of its scan response.
    static let longestData = 62
    /// With so many bytes a batch is sent at once.
    private static let fullSize = 4096

    /// The time for which the first packet waits for others.
    let window: Duration
    private(set) var payload: [UInt8] = []
    private(set) var count = 0
    /// When the first packet was heard.
    private(set) var begin = MonotonicInstant.zero

    var isEmpty: Bool { count == 0 }
    var isFull: Bool { payload.count >= Self.fullSize }
    /// When it is sent at the latest; nil if it is empty.
    var deadline: MonotonicInstant? { isEmpty ? nil : begin.advanced(by: window) }

    init(window: Duration = BatchWindow.longest) { self.window = window }

    mutating func add(_ report: AdvertisingReport, _ data: [UInt8], at now: MonotonicInstant) {
        if isEmpty { begin = now }
        count += 1
        var packet = ProtobufWriter()
        packet.number(1, report.address.value)
        packet.zigzag(2, Int32(report.rssi?.dBm ?? Self.unknownLevel))
        packet.number(3, report.address.isRandom ? 1 : 0)
        packet.data(4, Self.wholeStructures(data))
        var batch = ProtobufWriter()
        batch.element(1, packet)
        payload += batch.bytes
    }

    /// The level that Home Assistant takes for none.
    private static let unknownLevel: Int8 = -127

    /// The structures of advertising data that fit into `longestData`: a structure that is cut off would be malformed.
    static func wholeStructures(_ data: [UInt8]) -> ArraySlice<UInt8> {
        guard data.count > longestData else { return data[...] }
        var end = 0
        while end < data.count {
            let next = end + 1 + Int(data[end])
            guard next <= longestData else { break }
            end = next
        }
        return data[..<end]
    }
}
