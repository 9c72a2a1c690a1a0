import Base
import Beacon
import Configuration
import Rooms
import SiteCore
import SiteProtocol
import Testing

/// The core of the rooms service, with messages as they arrive at the broker and leave for it.
struct SiteHarness {
    private(set) var core: Site

    /// - Parameter isStandby: Whether the service waits for what is known of others; else there is no other service.
    init(_ settings: SiteSettings, isStandby: Bool = false) {
        var settings = settings
        if isStandby { settings.instance = "b" }
        core = Site(settings)
    }

    /// A service without others, whose configuration has the tag Jane. It has started.
    init(tag: BeaconID) throws {
        let configuration = #"{"rooms":{"site":"home","tags":["Jane:\#(tag)"]}}"#
        self.init(SiteSettings(try Configuration(parsing: configuration.utf8, hostName: "pi")))
        start(at: .zero)
    }

    /// - Parameter reported: The stored payloads of tags, by the tag's id.
    mutating func start(learned: LearnedSite? = nil, reported: [String: [UInt8]] = [:], at now: MonotonicInstant) {
        var stored = StoredSite()
        stored.learned = learned
        stored.states = reported.compactMapValues(PublishedTag.init)
        _ = core.handle(.start(stored), at: now)
    }

    mutating func handle(
        _ topic: String, _ payload: [UInt8], isRetained: Bool, at now: MonotonicInstant, epoch: Int64
    ) -> [Publication] {
        do {
            guard let topic = RoomTopic(topic), let message = try SiteMessage(topic, payload) else { return [] }
            return messages(.message(message, isRetained: isRetained), at: now, epoch: epoch)
        } catch {
            Issue.record(error)
            return []
        }
    }

    /// A message arrives live, after all that was due before.
    mutating func pass(_ message: SiteMessage, seconds: Double) -> [Site.Effect] {
        let instant = MonotonicInstant(nanoseconds: Int64(seconds * 1e9))
        while let deadline = core.nextDeadline, deadline < instant { _ = handle(.tick, at: deadline) }
        return handle(.message(message, isRetained: false), at: instant)
    }

    mutating func tick(at now: MonotonicInstant, epoch: Int64) -> [Publication] {
        messages(.tick, at: now, epoch: epoch)
    }

    mutating func handle(_ input: Site.Input, at now: MonotonicInstant) -> [Site.Effect] { core.handle(input, at: now) }

    /// A card of a service arrives live.
    mutating func hear(_ instance: String, isActive: Bool, counter: UInt64 = 0, at now: MonotonicInstant) {
        let card = ServiceCard(isActive: isActive, counter: counter, version: "")
        _ = core.handle(.message(.service(instance: instance, card), isRetained: false), at: now)
    }

    /// The service `a` is active: its counter moves.
    mutating func hearActive(at now: MonotonicInstant) {
        for counter in 1...2 { hear("a", isActive: true, counter: UInt64(counter), at: now) }
    }

    /// The active service says that it ends, so that this one takes over at once.
    mutating func takeOver(at now: MonotonicInstant, epoch: Int64) -> [Publication] {
        // What the broker retains has arrived before the own card.
        hear(core.election.instance, isActive: false, at: now)
        hear("a", isActive: true, counter: 7, at: now)
        hear("a", isActive: false, at: now)
        return tick(at: now, epoch: epoch)
    }

    /// What goes to the outbox.
    private mutating func messages(_ input: Site.Input, at now: MonotonicInstant, epoch: Int64) -> [Publication] {
        let clock = WallClock(epochNanoseconds: epoch * 1_000_000_000, at: now, isKnown: true)
        _ = core.handle(.wallClock(clock), at: now)
        return core.handle(input, at: now).compactMap { effect in
            guard case .publish(let report) = effect else { return nil }
            return report.message(to: SiteAddresses(site: "home", user: nil))
        }
    }
}
