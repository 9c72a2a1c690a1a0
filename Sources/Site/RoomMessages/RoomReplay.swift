package import Base
package import Rooms
package import SiteCore
package import SiteProtocol

/// Plays recordings of the feed through the core of the rooms service, in virtual time.
package struct RoomReplay: Sendable {
    /// A message with its time of publication, nanoseconds since 1970, and in virtual time.
    package typealias Published = (epochNanoseconds: Int64, instant: MonotonicInstant, message: Publication)

    package private(set) var site: Site
    package private(set) var lines = 0
    /// Lines that are not messages, and refused messages.
    package private(set) var problems = 0
    package private(set) var messages = 0
    /// nil before the first message of a site, unless the configuration names one.
    private var addresses: SiteAddresses?
    /// Virtual time. It never goes back.
    package private(set) var now = MonotonicInstant(nanoseconds: 1_000_000_000)
    /// Wall clock minus virtual time, nanoseconds; nil before the first line.
    package private(set) var offset: Int64?
    private var isNewRecording = false

    /// A step back of the recording's clock by up to this many nanoseconds counts as jitter.
    private static let jitter: Int64 = 5_000_000_000
    /// Virtual time between two recordings if the second does not begin after the first, nanoseconds.
    private static let gap: Int64 = 60_000_000_000
    /// A step forward by more than this, nanoseconds, is passed over after so much of it: nobody recorded, or the clock was
    /// set.
    private static let longestStep: Int64 = 86_400_000_000_000

    /// Decrypts a payload that arrived on a topic.
    package typealias Opening = @Sendable (_ topic: String, _ payload: [UInt8]) throws(FeedError) -> [UInt8]

    private let open: Opening

    /// - Parameter open: Decrypts the messages of a site with a key.
    package init(
        _ settings: SiteSettings, tuning: RoomTuning = RoomTuning(), open: @escaping Opening = { _, payload in payload }
    ) {
        self.open = open
        site = Site(settings, tuning: tuning)
        addresses = settings.site.map(settings.addresses(ofSite:))
        _ = site.handle(.start(StoredSite()), at: now)
    }

    /// Begins another recording. The gateways' clocks of the previous recording do not apply to it.
    package mutating func beginRecording(_ emit: (Published) -> Void, _ found: (RoomEngine.Finding) -> Void) {
        guard offset != nil else { return }
        handle(.discontinuity, emit, found)
        isNewRecording = true
    }

    /// Plays one line.
    ///
    /// - Returns: The message, which was received `now`; nil if it is not one of the site.
    /// - Throws: Why the line or its message was refused. The replay can continue.
    @discardableResult
    package mutating func play(
        line: some Collection<UInt8>, _ emit: (Published) -> Void, _ found: (RoomEngine.Finding) -> Void
    ) throws(FeedError) -> SiteMessage? {
        lines += 1
        do throws(FeedError) {
            let message = try RecordedMessage(line: line)
            advance(to: message.epochNanoseconds, emit, found)
            do throws(FeedError) {
                guard let read = try read(message) else { return nil }
                if let error = handle(.message(read, isRetained: message.isRetained), emit, found) { throw error }
                return read
            } catch {
                throw FeedError("\(message.topic.prefix(128)): \(error)")
            }
        } catch {
            problems += 1
            throw error
        }
    }

    /// - Returns: nil for a message that is not of the site.
    private mutating func read(_ message: RecordedMessage) throws(FeedError) -> SiteMessage? {
        let payload = try open(message.topic, message.payload)
        guard let topic = RoomTopic(message.topic), belongs(topic) else { return nil }
        return try SiteMessage(topic, payload)
    }

    /// Without a configured site, the replay uses the site of the first message.
    private mutating func belongs(_ topic: RoomTopic) -> Bool {
        guard let met = topic.site else { return true }
        guard TopicIdentifier.isIdentifier(met) else { return false }
        if addresses == nil { addresses = site.settings.addresses(ofSite: met) }
        return met == addresses?.site
    }

    /// Advances virtual time without any messages.
    package mutating func run(
        for tail: Duration, _ emit: (Published) -> Void, _ found: (RoomEngine.Finding) -> Void
    ) {
        let end = now.advanced(by: tail)
        tick(until: end, emit, found)
        now = end
    }

    private mutating func advance(
        to epoch: Int64, _ emit: (Published) -> Void, _ found: (RoomEngine.Finding) -> Void
    ) {
        var target = epoch - (offset ?? epoch - now.nanoseconds)
        if target < now.nanoseconds {
            if isNewRecording || now.nanoseconds - target > Self.jitter {
                if !isNewRecording, offset != nil { handle(.discontinuity, emit, found) }
                // The clock was set back, or an older recording follows. Virtual time must not go back.
                let next = now.nanoseconds + Self.gap
                if offset != nil { tick(until: MonotonicInstant(nanoseconds: next), emit, found) }
                offset = epoch - next
                target = next
            } else {
                target = now.nanoseconds
            }
        }
        if offset == nil { offset = epoch - now.nanoseconds }
        if target - now.nanoseconds > Self.longestStep {
            handle(.discontinuity, emit, found)
            let next = now.nanoseconds + Self.longestStep
            tick(until: MonotonicInstant(nanoseconds: next), emit, found)
            offset = epoch - next
            target = next
        }
        isNewRecording = false
        let instant = MonotonicInstant(nanoseconds: target)
        tick(until: instant, emit, found)
        now = instant
    }

    private mutating func tick(
        until end: MonotonicInstant, _ emit: (Published) -> Void, _ found: (RoomEngine.Finding) -> Void
    ) {
        while let deadline = site.nextDeadline, deadline < end {
            now = max(now, deadline)
            handle(.tick, emit, found)
        }
    }

    /// - Returns: Why the message was refused; nil if it was not.
    @discardableResult
    private mutating func handle(
        _ input: Site.Input, _ emit: (Published) -> Void, _ found: (RoomEngine.Finding) -> Void
    ) -> FeedError? {
        _ = site.handle(.wallClock(WallClock(epochOffset: offset ?? 0, isKnown: true)), at: now)
        var refusal: FeedError?
        for effect in site.handle(input, at: now) {
            switch effect {
            case .publish(let report):
                guard let addresses else { continue }
                messages += 1
                emit((now.nanoseconds + (offset ?? 0), now, report.message(to: addresses)))
            case .found(let finding): found(finding)
            case .refused(let error, _): refusal = error
            // A replay stores nothing, and nobody hears what is sent only to others.
            case .send, .record, .regions, .regionsMoved, .store, .editsTaken, .eraseHistory, .deliver, .cardMissing,
                .obsoleteRemoved, .log, .pageChanged:
                break
            }
        }
        return refusal
    }
}
