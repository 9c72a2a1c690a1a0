import Base
import Configuration
import Health
import Messaging
import Testing

@testable import Shell

/// What the state says of a connection that exists and does not work.
@Suite struct BrokerWatchTests {
    private var watch = BrokerWatch(at: .zero)

    private func advice(at second: Double) throws -> String {
        let broker = try Configuration(parsing: "{}".utf8, hostName: "pi").broker
        return watch.state(of: broker, at: .zero.advanced(by: .seconds(second))).remedy
    }

    /// The connection is made and ended at once, at each of these seconds. At last it stands.
    private mutating func cut(at seconds: [Double]) {
        for second in seconds {
            let now = MonotonicInstant.zero.advanced(by: .seconds(second))
            _ = watch.record(.connected(sessionPresent: false), at: now)
            _ = watch.record(.disconnected(.closed(code: nil), retryIn: .seconds(1)), at: now)
        }
        _ = watch.record(
            .connected(sessionPresent: false), at: .zero.advanced(by: .seconds((seconds.last ?? 0) + 1)))
    }

    static let cuts: [(seconds: [Double], isShared: Bool)] = [
        ([10, 20], false), ([10, 20, 30], true), ([10, 150, 290], true), ([10, 200, 400], false),
        ([10, 20, 400, 410, 420], true),
    ]

    @Test(arguments: cuts)
    mutating func `A connection that ends three times in five minutes may be that of two machines with one card`(
        cuts: (seconds: [Double], isShared: Bool)
    ) throws {
        cut(at: cuts.seconds)
        let says = try advice(at: (cuts.seconds.last ?? 0) + 2).contains("another client with the same client id")
        #expect(says == cuts.isShared)
    }
}
