internal import Beacon
internal import Gateway
internal import Scanning

/// Recordings through the whole gateway in virtual time, as fast as they can be read.
struct Replay {
    /// What came of it.
    struct Summary {
        var events: UInt64 = 0
        var reports: UInt64 = 0
        var malformed: UInt64 = 0
        var lost: UInt64 = 0
        var messages: UInt64 = 0
        /// Virtual time from the first record to the end of the tail.
        var duration: Duration = .zero
    }

    private(set) var gateway: Gateway.Gateway
    private(set) var summary = Summary()
    private var now = MonotonicInstant.zero
    private var listening: [Receiver] = []
    private let perform: (Effect, MonotonicInstant) -> Void

    /// - Parameter perform: Gets every effect, in order, with the virtual time at which it came.
    init(gateway: Gateway.Gateway, perform: @escaping (Effect, MonotonicInstant) -> Void) {
        self.gateway = gateway
        self.perform = perform
    }

    /// Plays one recording. Between recordings nobody listens.
    ///
    /// - Parameter pace: Called with the virtual time before each record, to wait for it or not.
    /// - Throws: What is wrong with the recording; what stood before that has been played.
    mutating func play(_ path: String, pace: (MonotonicInstant) -> Void) throws(CaptureError) {
        var reader = try CaptureReader(path: path, startingAt: now)
        var parser = AdvertisingReportParser()
        var isFirst = true
        defer {
            for receiver in listening { pass(.listening(receiver, false), at: now) }
            listening = []
            summary.reports += parser.reports
            summary.malformed += parser.malformed.total
            summary.lost += reader.lost
        }
        while let record = try reader.advance() {
            if isFirst {
                isFirst = false
                let clock = WallClock(epochNanoseconds: record.wallMicroseconds &* 1000, at: record.instant, isKnown: true)
                pass(.wallClock(clock), at: record.instant)
            }
            pace(record.instant)
            if !listening.contains(record.receiver) {
                listening.append(record.receiver)
                pass(.listening(record.receiver, true), at: record.instant)
            }
            summary.events += 1
            var malformed = parser.malformed
            reader.withEvent { event in
                parser.parse(event: event) { report, data in
                    guard let frame = IBeacon(advertisingData: data, malformed: &malformed) else { return }
                    let sighting = Sighting(
                        beacon: frame.id, measuredPower: frame.measuredPower, rssi: report.rssi,
                        receiver: record.receiver)
                    pass(.sighting(sighting), at: record.instant)
                }
            }
        }
    }

    /// Lets virtual time run on, listening, so that pending leaves fire.
    mutating func listen(for tail: Duration, pace: (MonotonicInstant) -> Void) {
        let end = now.advanced(by: tail)
        let receiver = Receiver(index: 0)
        pass(.listening(receiver, true), at: now)
        tick(until: end, pace: pace)
        pass(.tick, at: end)
    }

    /// Takes one input at its time, after everything that was due before it.
    private mutating func pass(_ input: Input, at instant: MonotonicInstant) {
        if let deadline = gateway.nextDeadline, deadline < instant { tick(until: instant) { _ in } }
        now = instant
        summary.duration = MonotonicInstant.zero.duration(to: now)
        for effect in gateway.handle(input, at: instant) { emit(effect) }
    }

    private mutating func tick(until end: MonotonicInstant, pace: (MonotonicInstant) -> Void) {
        while let deadline = gateway.nextDeadline, deadline < end {
            pace(deadline)
            now = max(now, deadline)
            for effect in gateway.handle(.tick, at: now) { emit(effect) }
        }
    }

    private mutating func emit(_ effect: Effect) {
        if case .publish = effect { summary.messages += 1 }
        perform(effect, now)
    }
}
