import Base
import Configuration
import Glibc
import Messaging
import Runtime
import Testing

@testable import Shell

/// What the log says of a connection that is refused.
@Suite struct BrokerEventLogTests {
    /// The lines of these events, which come in one minute.
    private func lines(_ events: [BrokerEvent]) throws -> [String] {
        let broker = try Configuration(parsing: "{}".utf8, hostName: "pi").broker
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { close(ends[0]) }
        let log = Log(threshold: .info, style: .plain, descriptor: ends[1])
        for event in events { event.write(to: log, of: broker, named: "broker") }
        close(ends[1])
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = max(0, read(ends[0], &bytes, bytes.count))
        return String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func end(_ failure: BrokerFailure, retryIn seconds: Double) -> BrokerEvent {
        .disconnected(failure, retryIn: .seconds(seconds))
    }

    @Test func `A login that is refused after the end of a connection is named at once, and each reason once a minute`()
        throws
    {
        let lines = try lines([
            end(.closed(code: nil), retryIn: 1), end(.notAccepted(code: 4), retryIn: 2),
            end(.notAccepted(code: 4), retryIn: 4), end(.closed(code: nil), retryIn: 8),
        ])
        #expect(
            lines == [
                "warning: no broker: the connection was closed; next try in 1.00 s",
                "warning: no broker: the broker does not accept us: wrong user name or password; next try in 2.00 s",
            ])
    }

    @Test func `Two reasons for which messages are set aside are two lines`() throws {
        let codes: [UInt8] = [0x87, 0x99, 0x87]
        let lines = try lines(
            codes.enumerated().map {
                .refused(MessageToken(rawValue: Int64($0.offset + 1)), .byBroker(reasonCode: $0.element))
            })
        #expect(lines.count == 2 && lines[1].contains("payload format invalid"), "\(lines)")
    }
}
