import Base
package import Rooms
package import SiteProtocol

/// Plays recordings of the feed through the whole service, in virtual time.
package struct RoomReplay: Sendable {
    /// A message with its time of publication, nanoseconds since 1970.
    package typealias Published = (epochNanoseconds: Int64, message: RoomMessage)

    package private(set) var site: RoomSite
    package private(set) var lines = 0
    /// Lines that are not messages, and rejected messages.
    package private(set) var problems = 0
    package private(set) var messages = 0
    private var now = MonotonicInstant(nanoseconds: 1_000_000_000)
    /// Wall clock minus virtual time, nanoseconds; nil before the first line.
    private var offset: Int64?

    /// A step back of the recording's clock by up to this many nanoseconds counts as jitter.
    private static let jitter: Int64 = 5_000_000_000
    /// Virtual time between two recordings if the second does not begin after the first, nanoseconds.
    private static let gap: Int64 = 60_000_000_000

    /// Decrypts a payload that arrived on a topic.
    package typealias Opening = @Sendable (_ topic: String, _ payload: [UInt8]) throws(FeedError) -> [UInt8]

    private let open: Opening

    /// - Parameter open: Decrypts the messages of a site with a key.
    package init(
        _ settings: RoomSettings, tuning: RoomTuning = RoomTuning(), open: @escaping Opening = { _, payload in payload }
    ) {
        self.open = open
        site = RoomSite(settings, tuning: tuning)
        site.start(at: now)
    }

    /// Begins another recording. The gateways' clocks of the previous recording do not apply to it.
    package mutating func beginRecording(_ emit: (Published) -> Void, _ found: (RoomEngine.Finding) -> Void) {
        guard let offset else { return }
        deliver(site.breakOff(at: now, epoch: seconds(offset)), emit, found)
        isNewRecording = true
    }

    private var isNewRecording = false

    /// Plays one line.
    ///
    /// - Throws: Why the line or its message was rejected. The replay can continue.
    package mutating func play(
        line: some Collection<UInt8>, _ emit: (Published) -> Void, _ found: (RoomEngine.Finding) -> Void
    ) throws(FeedError) {
        lines += 1
        do throws(FeedError) {
            let message = try RecordedMessage(line: line)
            advance(to: message.epochNanoseconds, emit, found)
            let outcome = site.handle(
                message.topic, try opened(message), isRetained: message.isRetained, at: now, epoch: seconds(offset ?? 0)
            )
            deliver(outcome, emit, found)
            if let problem = outcome.problem { throw FeedError("\(message.topic.prefix(128)): \(problem)") }
        } catch {
            problems += 1
            throw error
        }
    }

    private func opened(_ message: RecordedMessage) throws(FeedError) -> [UInt8] {
        do throws(FeedError) {
            return try open(message.topic, message.payload)
        } catch {
            throw FeedError("\(message.topic.prefix(128)): \(error)")
        }
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
                if !isNewRecording, let offset {
                    deliver(site.breakOff(at: now, epoch: seconds(offset)), emit, found)
                }
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
            deliver(site.tick(at: now, epoch: seconds(offset ?? 0)), emit, found)
        }
    }

    private func seconds(_ offset: Int64) -> Int64 { (now.nanoseconds + offset) / 1_000_000_000 }

    private mutating func deliver(
        _ outcome: RoomSite.Outcome, _ emit: (Published) -> Void, _ found: (RoomEngine.Finding) -> Void
    ) {
        for message in outcome.messages {
            messages += 1
            emit((now.nanoseconds + (offset ?? 0), message))
        }
        for finding in outcome.findings { found(finding) }
    }
}
