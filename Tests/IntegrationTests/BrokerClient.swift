import Base
import Synchronization
import TestSupport

@testable import Messaging

/// The client of a `BrokerConnection` in a test: it collects the events of the connection.
final class BrokerClient: Sendable {
    let connection: BrokerConnection
    private let collected = Mutex<[BrokerEvent]>([])
    let wakes = Atomic<Int>(0)

    init(_ settings: BrokerSettings) throws {
        let box = WakeBox()
        connection = try BrokerConnection(settings) { box.owner.withLock { $0?() } }
        box.owner.withLock { owner in
            owner = { [weak self] in _ = self?.wakes.add(1, ordering: .relaxed) }
        }
    }

    var events: [BrokerEvent] {
        collected.withLock {
            $0 += connection.drainEvents()
            return $0
        }
    }

    /// Waits until an event is among those seen.
    func sees(within limit: Duration = .patience, _ matches: (BrokerEvent) -> Bool) -> Bool {
        eventually(within: limit) { events.contains(where: matches) }
    }

    func connects() -> Bool { sees(\.isConnected) }

    var failures: [BrokerFailure] {
        events.compactMap { if case .disconnected(let failure, _) = $0 { failure } else { nil } }
    }

    var messages: [ReceivedMessage] {
        events.compactMap { if case .message(let message) = $0 { message } else { nil } }
    }

    var acknowledged: [Int64] {
        events.compactMap { if case .acknowledged(let token) = $0 { token.rawValue } else { nil } }
    }

    @discardableResult
    func publish(
        _ number: Int64, to topic: String = "a/b", _ payload: [UInt8]? = nil, qos: QoS = .atLeastOnce,
        retain: Bool = false
    ) -> Bool {
        let payload = payload ?? Array("\(number)".utf8)
        return connection.publish(
            Publication(.other, topic: topic, payload: payload, qos: qos, isRetained: retain),
            as: MessageToken(rawValue: number))
    }
}

private final class WakeBox: Sendable {
    let owner = Mutex<(@Sendable () -> Void)?>(nil)
}

extension BrokerEvent {
    var isConnected: Bool {
        if case .connected = self { true } else { false }
    }
}

extension BrokerSettings {
    /// For a broker of the test.
    init(for broker: MosquittoBroker, clientID: String = "gateway") {
        self.init(hosts: ["127.0.0.1"], port: broker.port, clientID: clientID)
    }
}
