import Glibc
import TestSupport
import Testing

/// A command of the rooms and a broker that takes its time.
@Suite struct RoomsCollectTests {
    enum Delay: CaseIterable {
        /// The broker answers a subscription late, with the retained messages.
        case answer
        /// It answers at once, and sends the retained messages later.
        case messages
    }

    /// What a rooms service retains: it is the active one. Then it publishes its next card.
    private static let card = publish(counter: 1, isRetained: true) + publish(counter: 2, isRetained: false)

    private static func publish(counter: Int, isRetained: Bool) -> [UInt8] {
        let topic = "ibeacon-rooms/home/service/a"
        let payload = #"{"v":1,"active":true,"counter":\#(counter),"version":"1"}"#
        let body = [0, UInt8(topic.utf8.count)] + Array(topic.utf8) + Array(payload.utf8)
        return [isRetained ? 0x31 : 0x30, UInt8(body.count)] + body
    }

    @Test(arguments: Delay.allCases)
    func `rooms status waits for a broker that is slow to send what it retains`(delay: Delay) throws {
        let broker = try ScriptedBroker { packet in
            guard packet.type == 8, case .bytes(let answer) = ScriptedBroker.politely(packet) else {
                return ScriptedBroker.politely(packet)
            }
            let filter = String(decoding: packet.body.dropFirst(4).dropLast(), as: UTF8.self)
            switch (delay, filter) {
            case (.answer, "ibeacon-rooms/home/service/+"), (.messages, "ibeacon-rooms/home/service/fence"):
                usleep(2_000_000)
                return .bytes(Self.card + answer)
            default: return .bytes(answer)
            }
        }
        defer { broker.close() }
        let service = try RoomsProcess(port: broker.port, instance: "b", ", mqttProtocolLevel: 4")
        let status = try service.say("rooms", "status")
        #expect(status.contains("site 'home': decided by a"), "\(status)")
    }
}
