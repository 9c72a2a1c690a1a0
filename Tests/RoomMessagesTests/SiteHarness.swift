import Base
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

    mutating func tick(at now: MonotonicInstant, epoch: Int64) -> [Publication] {
        messages(.tick, at: now, epoch: epoch)
    }

    /// The active service says that it ends, so that this one takes over at once.
    mutating func takeOver(at now: MonotonicInstant, epoch: Int64) -> [Publication] {
        let card = ServiceCard(isActive: false, counter: 0, version: "")
        _ = core.handle(.message(.service(instance: "a", card), isRetained: false), at: now)
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
