import TestSupport
import Testing

@testable import Messaging

@Suite struct PacketFilterTests {
    /// A PUBLISH as a broker sends it.
    static func publish(
        _ topic: String, _ payload: [UInt8], qos: UInt8 = 1, identifier: [UInt8] = [0x12, 0x34],
        properties: [UInt8] = []
    ) -> [UInt8] {
        let name = Array(topic.utf8)
        let body =
            [UInt8(name.count >> 8), UInt8(name.count & 0xff)] + name + (qos > 0 ? identifier : []) + properties
            + payload
        return [0x30 | qos << 1] + length(body.count) + body
    }

    static func length(_ count: Int) -> [UInt8] {
        count < 128 ? [UInt8(count)] : [UInt8(count & 0x7f) | 0x80] + length(count >> 7)
    }

    private func pass(
        _ bytes: [UInt8], limit: Int, level5: Bool = false, chunk: Int = .max
    ) throws(PacketFilter.Violation) -> (output: [UInt8], cuts: [PacketFilter.Cut]) {
        var filter = PacketFilter(limit: limit, hasProperties: level5)
        var output: [UInt8] = []
        if bytes.first != 0x20 { try filter.pass([0x20, 2, 0, 0], to: &output) }
        output = []
        var rest = bytes[...]
        while !rest.isEmpty {
            try filter.pass(rest.prefix(chunk), to: &output)
            rest = rest.dropFirst(chunk)
        }
        return (output, filter.cuts)
    }

    private let acknowledgement: [UInt8] = [0x40, 2, 0, 1]
    private let ping: [UInt8] = [0xd0, 0]

    @Test(arguments: [1, 2, 3, 7, 64, Int.max])
    func `Packets within the limit pass as they are, however they are divided`(chunk: Int) throws {
        let bytes = ping + Self.publish("a", [UInt8](repeating: 1, count: 90)) + acknowledgement + ping
        let result = try pass(bytes, limit: 100, chunk: chunk)
        #expect(result.output == bytes)
        #expect(result.cuts.isEmpty)
    }

    @Test(arguments: [0, 1] as [UInt8], [1, 5, 300, Int.max])
    func `A PUBLISH over the limit passes without its payload, and what follows is untouched`(
        qos: UInt8, chunk: Int
    ) throws {
        let large = Self.publish("a/cmd", [UInt8](repeating: 0x40, count: 5000), qos: qos)
        let result = try pass(ping + large + acknowledgement, limit: 1000, chunk: chunk)
        #expect(result.output == ping + Self.publish("a/cmd", [], qos: qos) + acknowledgement)
        #expect(result.cuts == [PacketFilter.Cut(topic: Array("a/cmd".utf8), size: large.count)])
    }

    @Test func `In MQTT 5 the properties go with the payload`() throws {
        let properties: [UInt8] = [3, 0x01, 0x01, 0x00]
        let large = Self.publish("a", [UInt8](repeating: 7, count: 500), properties: properties)
        let result = try pass(large + ping, limit: 100, level5: true)
        #expect(result.output == Self.publish("a", [0]) + ping)
    }

    @Test func `The limit is of the whole packet`() throws {
        let packet = Self.publish("a", [UInt8](repeating: 1, count: 200))
        #expect(try pass(packet, limit: packet.count).cuts.isEmpty)
        #expect(try pass(packet, limit: packet.count - 1).cuts.count == 1)
    }

    @Test func `The flags of a retained or repeated message stay`() throws {
        var packet = Self.publish("a", [UInt8](repeating: 1, count: 200))
        packet[0] |= 0b1001
        #expect(try pass(packet, limit: 100).output.first == packet[0])
    }

    @Test func `A PUBLISH that ends within its topic passes with what there is of it`() throws {
        let packet: [UInt8] = [0x32] + Self.length(300) + [0xff, 0xff] + [UInt8](repeating: 0x61, count: 298)
        let result = try pass(packet + ping, limit: 100)
        #expect(result.output == packet + ping)
    }

    @Test(
        arguments: [
            ([0x34, 0x05], .exactlyOnce), ([0x3d, 0x05], .exactlyOnce),
            ([0x30, 0x80, 0x80, 0x80, 0x80], .malformedLength), ([0x90, 0xff, 0x7f], .oversizePacket(type: 9)),
            ([0x40, 0xff, 0xff, 0x7f], .oversizePacket(type: 4)), ([0], .unknownPacket(type: 0)),
            ([0x10], .unknownPacket(type: 1)), ([0x82], .unknownPacket(type: 8)), ([0xa2], .unknownPacket(type: 10)),
            ([0xc0], .unknownPacket(type: 12)), ([0x0f, 4], .unknownPacket(type: 0)),
            ([0x20, 5], .answerLength(5)), ([0x20, 1], .answerLength(1)), ([0x20, 2, 0, 0, 0x20, 2], .secondAnswer),
        ] as [([UInt8], PacketFilter.Violation)])
    func `What no broker may send ends the connection`(bytes: [UInt8], violation: PacketFilter.Violation) {
        #expect(throws: violation) { try pass(bytes, limit: 100) }
    }

    @Test(
        arguments: [
            (Array("HTTP/1.1 400 Bad Request".utf8), false), ([0xe0, 0], false), ([0xf0, 0], false), ([0xd0, 0], true),
            (Array("SSH-2.0".utf8), true),
        ] as [([UInt8], Bool)])
    func `What is no answer to CONNECT is no broker`(bytes: [UInt8], level5: Bool) {
        var filter = PacketFilter(limit: 100, hasProperties: level5)
        var output: [UInt8] = []
        #expect(throws: PacketFilter.Violation.self) { try filter.pass(bytes[...], to: &output) }
        #expect(output.isEmpty)
    }

    @Test func `In MQTT 5 a broker may end the connection, or ask for more, before it answers`() throws {
        for bytes: [UInt8] in [[0xe0, 0], [0xf0, 0]] {
            var filter = PacketFilter(limit: 100, hasProperties: true)
            var output: [UInt8] = []
            try filter.pass(bytes[...], to: &output)
            #expect(output == bytes)
        }
    }

    @Test func `In MQTT 5 an answer may have properties, and comes once`() throws {
        let answer: [UInt8] = [0x20, 3, 0, 0, 0]
        #expect(try pass(answer, limit: 100, level5: true).output == answer)
        #expect(throws: PacketFilter.Violation.secondAnswer) { try pass(answer + answer, limit: 100, level5: true) }
    }

    @Test func `Any bytes in any division give the same output, no larger than the input`() {
        var random = SplitMix64(seed: 16)
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 1...400, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let whole = Result { () throws(PacketFilter.Violation) in try pass(bytes, limit: 50).output }
            let divided = Result { () throws(PacketFilter.Violation) in
                try pass(bytes, limit: 50, chunk: Int.random(in: 1...9, using: &random)).output
            }
            #expect(whole == divided)
            if case .success(let output) = whole { #expect(output.count <= bytes.count) }
        }
    }
}
