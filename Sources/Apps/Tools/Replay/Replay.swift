import Base
import Beacon
import Configuration
import Gateway
import Identities
import Scanning

/// Plays recordings through the whole gateway in virtual time, as fast as they can be read.
struct Replay {
    /// The totals of a replay.
    struct Summary {
        var events: UInt64 = 0
        var reports: UInt64 = 0
        var malformed = MalformedCounters()
        var lost: UInt64 = 0
        var messages: UInt64 = 0
        /// Gaps of more than a day that were passed over.
        var gaps: UInt64 = 0
        /// Virtual time from the first record to the end of the tail.
        var duration: Duration = .zero
    }

    private(set) var gateway: Gateway
    private(set) var summary = Summary()
    private var resolver: IdentityResolver
    private var now = MonotonicInstant.zero
    /// The receivers in the recordings, and those that listen.
    private var receivers: [Receiver] = []
    private var listening: [Receiver] = []

    /// - Parameter resolver: With the keys of phones; the identities of the gateway's regions are added.
    init(gateway: Gateway, resolver: IdentityResolver = IdentityResolver()) {
        self.gateway = gateway
        self.resolver = resolver
        self.resolver.setIdentities(gateway.identities)
        _ = self.gateway.handle(.phones(resolver.phones), at: now)
        self.resolver.setNamed { gateway.regionName(of: BeaconID(uuid: $0, major: 0, minor: 0)) != nil }
    }

    /// Plays one recording. The time between recordings is time without listening.
    ///
    /// - Parameters:
    ///   - path: The capture file.
    ///   - pace: Called before each record with its virtual time; it may wait.
    ///   - perform: Receives every effect, in order.
    /// - Throws: The first error of the recording. The records before it have been played.
    mutating func play(
        _ path: String, pace: (MonotonicInstant) -> Void, _ perform: (Gateway.Effect) -> Void
    ) throws(CaptureError) {
        var reader = try CaptureReader(path: path, startingAt: now)
        var parser = AdvertisingReportParser()
        var decoder = BeaconDecoder()
        decoder.masks = gateway.configuration.batteryMasks
        var failure: CaptureError?
        var gaps: UInt64 = 0
        do throws(CaptureError) {
            var isFirst = true
            while let record = try reader.advance() {
                if isFirst {
                    isFirst = false
                    setClock(to: record)
                }
                pace(record.instant)
                if reader.timeline.gaps > gaps {
                    gaps = reader.timeline.gaps
                    // What was due in the gap bears the time before it.
                    tick(until: record.instant, pace: { _ in }, perform)
                    now = record.instant
                    setClock(to: record)
                }
                summary.events += 1
                listen(with: record.receiver, at: record.instant, perform)
                reader.withEvent { event in
                    parser.parse(event: event) { report, data in
                        let sighting = decoder.sighting(
                            in: data, of: report, by: record.receiver, at: record.instant
                        ) { pass(.telemetry($0), at: record.instant, perform) }
                        if let sighting { pass(.sighting(sighting), at: record.instant, perform) }
                        guard resolver.isOn else { return }
                        let sender = resolver.sender(
                            of: report, data: data, by: record.receiver, at: record.instant)
                        let frame = resolver.frame(in: data, of: report, by: record.receiver)
                        let found = [sender, frame].flatMap { [$0, $0.flatMap { resolver.alias(of: $0) }] }
                        var readings: [BeaconTelemetry] = []
                        resolver.telemetry(
                            in: data, of: report, by: record.receiver, sender: sender, frame: frame, at: record.instant
                        ) { readings.append($0) }
                        for reading in readings { pass(.telemetry(reading), at: record.instant, perform) }
                        for case let sighting? in found { pass(.sighting(sighting), at: record.instant, perform) }
                    }
                }
            }
        } catch {
            failure = error
        }
        for receiver in listening { pass(.listening(receiver, false), at: now, perform) }
        listening = []
        summary.reports += parser.reports
        summary.malformed.add(parser.malformed)
        summary.malformed.add(decoder.malformed)
        summary.lost += reader.lost
        summary.gaps += gaps
        if let failure { throw failure }
    }

    /// Advances virtual time while listening, so that pending leaves happen.
    mutating func listen(for tail: Duration, pace: (MonotonicInstant) -> Void, _ perform: (Gateway.Effect) -> Void) {
        let end = now.advanced(by: tail)
        for receiver in receivers { pass(.listening(receiver, true), at: now, perform) }
        tick(until: end, pace: pace, perform)
        pass(.tick, at: end, perform)
    }

    private mutating func listen(
        with receiver: Receiver, at instant: MonotonicInstant, _ perform: (Gateway.Effect) -> Void
    ) {
        guard !listening.contains(receiver) else { return }
        listening.append(receiver)
        if !receivers.contains(receiver) { receivers.append(receiver) }
        pass(.listening(receiver, true), at: instant, perform)
    }

    private mutating func setClock(to record: CaptureRecord) {
        let clock = WallClock(
            epochNanoseconds: record.wallMicroseconds &* 1000, at: record.instant, isKnown: true)
        _ = gateway.handle(.wallClock(clock), at: now)
    }

    /// Handles one input at its time, after all earlier deadlines.
    private mutating func pass(
        _ input: Gateway.Input, at instant: MonotonicInstant, _ perform: (Gateway.Effect) -> Void
    ) {
        if let deadline = gateway.nextDeadline, deadline < instant { tick(until: instant, pace: { _ in }, perform) }
        now = instant
        summary.duration = MonotonicInstant.zero.duration(to: now)
        for effect in gateway.handle(input, at: instant) { emit(effect, perform) }
    }

    private mutating func tick(
        until end: MonotonicInstant, pace: (MonotonicInstant) -> Void, _ perform: (Gateway.Effect) -> Void
    ) {
        while let deadline = gateway.nextDeadline, deadline < end {
            pace(deadline)
            now = max(now, deadline)
            for effect in gateway.handle(.tick, at: now) { emit(effect, perform) }
        }
    }

    private mutating func emit(_ effect: Gateway.Effect, _ perform: (Gateway.Effect) -> Void) {
        if case .publish = effect { summary.messages += 1 }
        perform(effect)
    }
}
