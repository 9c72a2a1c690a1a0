import Base
import Configuration
import Health
import Messaging
import OwnTracks
import Regions
import Runtime
import ServiceSupport
import Storage
import System
import TestSupport
import Testing

@testable import Shell

/// A core that knows neither gateway nor rooms: somebody rings, and it decides what the input says.
struct Bell: ServiceCore {
    enum Input: ServiceInput {
        case tick, checkpoint, stopping, writeLost, stateLost
        case absent(Duration)
        case wallClock(WallClock)
        /// Remember the text, and publish each of these texts.
        case ring(String, publishing: [String])
        /// Publish this without the outbox.
        case call(String)
        /// Ring at this instant.
        case alarm(at: MonotonicInstant)
    }

    enum Effect {
        case remember(String)
        case publish(String)
        case call(String)
    }

    private(set) var nextDeadline: MonotonicInstant?
    /// The inputs in their order, but for the wall clock.
    private(set) var inputs: [String] = []

    mutating func handle(_ input: Input, at instant: MonotonicInstant) -> [Effect] {
        switch input {
        case .tick:
            inputs.append("tick")
            guard let due = nextDeadline, due <= instant else { return [] }
            nextDeadline = nil
            return [.publish("alarm")]
        case .checkpoint: inputs.append("checkpoint")
        case .writeLost: inputs.append("writeLost")
        case .stateLost: inputs.append("stateLost")
        case .stopping: return [.remember("stopped")]
        case .absent(let duration): inputs.append("absent \(duration.components.seconds)")
        case .wallClock: break
        case .ring(let text, let texts):
            inputs.append("ring")
            return [.remember(text)] + texts.map(Effect.publish)
        case .call(let text): return [.call(text)]
        case .alarm(let due): nextDeadline = due
        }
        return []
    }
}

/// The rest of the service around `Bell`: topics, and what the events of the links mean.
final class BellService: AppOwner {
    typealias Core = Bell

    let app: App<Bell>
    private(set) var restored: String?
    private(set) var received: [String] = []
    private(set) var finished = 0
    /// Whether stored messages are still wanted.
    var isWanted = true
    /// What each received message costs.
    var costOfMessage: Duration = .zero
    private let host: ServiceHostDouble

    init(settings: Settings, links: AppLinks, host: ServiceHostDouble, log: Log) throws {
        self.host = host
        app = App(core: Bell(), settings: settings, links: links, host: host, log: log)
        try app.start(self)
    }

    func decision(of effects: [Bell.Effect], at now: MonotonicInstant) -> Decision {
        var decision = Decision()
        for effect in effects {
            switch effect {
            case .remember(let text): decision.changes.append(.value(key: "bell", Array(text.utf8)))
            case .publish(let text): decision.changes.append(.message(Self.publication(text)))
            case .call(let text): decision.publications.append(Self.publication(text))
            }
        }
        return decision
    }

    private static func publication(_ text: String) -> Publication {
        Publication(.transition, of: "bell", topic: "bell/rings", payload: Array(text.utf8))
    }

    func finish(_ effects: [Bell.Effect]) {
        finished += 1
        app.changed()
    }

    func restore(_ snapshot: StoreSnapshot, at now: MonotonicInstant) {
        restored = snapshot.values["bell"].map { String(decoding: $0, as: UTF8.self) }
    }

    func begin(with snapshot: StoreSnapshot, at now: MonotonicInstant) -> String { "the bell hangs" }
    func merge(_ edits: [RegionEdit], at now: MonotonicInstant) {}

    func connection(at now: MonotonicInstant) -> BrokerRequest? {
        BrokerRequest(
            settings: BrokerSettings(app.settings.configuration, for: .command("bell")), filters: ["bell/pull"])
    }

    func delivers(_ publication: Publication) -> Bool { isWanted }
    func connected(isNew: Bool, at now: MonotonicInstant) {}

    func received(_ message: ReceivedMessage, at now: MonotonicInstant) {
        received.append(String(decoding: message.payload, as: UTF8.self))
        host.now = host.now.advanced(by: costOfMessage)
    }

    func consequence(of refused: Refused) -> RefusalRecord.Consequence? { "the bell does not ring" }

    func adopt(_ settings: Settings) -> Reload {
        let before = app.settings.configuration
        app.settings = settings
        return Reload(from: before, to: settings.configuration, in: .gateway)
    }

    func putInForce(_ reload: Reload) {}

    func historyBegin(at epochSeconds: Int64) -> Int64? { app.settings.configuration.historyBegin(at: epochSeconds) }
    func stop() {}
}

/// The shell in virtual time, over the real store.
final class BellFixture: ServiceRig {
    let host: ServiceHostDouble
    let broker = BrokerDouble()
    let status = StatusDouble()
    let store: SteppedStore
    let service: BellService
    private let directory: TemporaryDirectory

    var app: App<Bell> { service.app }

    /// - Parameter hasFile: false: there is no configuration file yet.
    init(
        in directory: TemporaryDirectory, host: ServiceHostDouble = ServiceHostDouble(),
        log: Log = Log(threshold: .error), hasFile: Bool = true
    ) throws {
        (self.directory, self.host) = (directory, host)
        store = SteppedStore(host: host)
        if hasFile { try directory.write("{_type: \"configuration\", tid: \"b1\"}", to: "config.json") }
        service = try BellService(
            settings: try Settings(lookingAt: directory.file("config.json"), stateDirectory: directory.path),
            links: AppLinks(store: store, broker: broker, status: status), host: host, log: log)
        settle()
    }

    /// The texts that reached the broker.
    var rings: [String] { broker.messages.map(\.text) }

    func ring(_ texts: String...) { app.handle(.ring("rung", publishing: texts), at: host.now) }

    func reload(_ text: String) throws {
        try directory.write(text, to: "config.json")
        app.reload()
    }

    func recordUnrest() { Issue.record("the service does not come to rest") }

    /// Lets time pass at once: each timer fires at most once.
    func skip(_ duration: Duration) {
        host.now = host.now.advanced(by: duration)
        settle()
    }
}
