package import Base
import Beacon
import System

/// Plays a recording as if it were heard now: once, at its own pace or another, then silence.
///
/// After the end it keeps listening, so that what the recording leaves open (a leave that is due) happens as with a real
/// adapter.
package final class CaptureScanner: Scanner {
    private let path: String
    private let speed: Double
    private let host: any EventHost
    private unowned let output: any ScannerOutput

    private var isPlaying = false
    /// nil while a batch is delivered: the output may stop this scanner from within a report.
    private var reader: CaptureReader?
    /// One for each adapter, at the same index: each adapter has its own fragments and its own errors.
    private var parsers: [AdvertisingReportParser] = []
    /// The event that the reader has reached and that is not due yet.
    private var ahead: CaptureRecord?
    private var startedAt = MonotonicInstant.zero
    private var token: (any EventRegistration)?
    private var lostSeen: UInt64 = 0
    package private(set) var adapters: [AdapterStatus] = []

    /// Largest number of events delivered in one turn of the loop. At high speeds everything is due at once, and signals and
    /// the broker need their turn too.
    private static let longestBatch = 512
    /// Events that are due within this time are delivered together: a timer costs more than an event.
    private static let batching: Duration = .milliseconds(2)

    /// - Parameters:
    ///   - path: The capture; a relative path must have been resolved.
    ///   - speed: Seconds of the recording that pass in one second, above 0.
    ///   - host: The loop.
    ///   - output: Receives all events. It must outlive this scanner.
    package init(path: String, speed: Double, host: any EventHost, output: any ScannerOutput) {
        self.path = path
        self.speed = speed.isFinite && speed > 0 ? speed : 1
        self.host = host
        self.output = output
    }

    package func start() throws(ScannerError) {
        stop()
        do throws(CaptureError) {
            let opened = try CaptureReader(path: path, .regular)
            reader = consume opened
        } catch {
            throw ScannerError(.badInput, error.description)
        }
        isPlaying = true
        startedAt = host.now
        (adapters, parsers, lostSeen) = ([], [], 0)
        ahead = Self.readAhead(&reader, output)
        listen(ahead?.receiver ?? Receiver(index: 0))
        schedule()
    }

    package func stop() {
        token?.cancel()
        token = nil
        reader = nil
        ahead = nil
        isPlaying = false
        for index in adapters.indices where adapters[index].isListening {
            adapters[index].isListening = false
            output.listening(false, of: adapters[index].receiver, at: host.now, because: "the recording was stopped")
        }
    }

    /// Delivers the events that are due and sleeps until the next.
    private func play() {
        token = nil
        let horizon = host.now.advanced(by: Self.batching)
        var reader = self.reader.take()
        for _ in 0..<Self.longestBatch {
            guard isPlaying, let record = ahead, due(record) <= horizon else { break }
            // Each event has its own instant, as each read of a socket has.
            give(record, from: reader, at: host.now)
            guard isPlaying else { return }
            ahead = Self.readAhead(&reader, output)
            countLost(reader?.lost)
        }
        guard isPlaying else { return }
        guard ahead != nil else { return finish(at: host.now) }
        self.reader = consume reader
        schedule()
    }

    /// The adapters keep listening: what follows is silence, not deafness.
    private func finish(at now: MonotonicInstant) {
        output.notice(Notice(.info, "\(path): the recording has ended; nothing is heard from now on"))
        output.finished(at: now)
    }

    private func schedule() {
        let instant = ahead.map { due($0) } ?? startedAt
        token = host.at(max(instant, host.now)) { [weak self] in self?.play() }
    }

    private func due(_ record: CaptureRecord) -> MonotonicInstant {
        // A Double holds nanoseconds exactly for 104 days, and to 1 µs for longer than anyone records.
        let elapsed = Double(record.instant.nanoseconds) / speed
        return MonotonicInstant(nanoseconds: startedAt.nanoseconds &+ Int64(min(elapsed, 4e18)))
    }

    private func give(_ record: CaptureRecord, from reader: borrowing CaptureReader?, at now: MonotonicInstant) {
        let index = listen(record.receiver)
        var parser = parsers[index]
        let (output, receiver) = (self.output, record.receiver)
        let before = parser.reports
        reader?.withEvent { event in
            parser.parse(event: event) { report, data in
                guard self.isPlaying else { return }
                output.heard(report, data: data, by: receiver, at: now)
            }
        }
        guard isPlaying else { return }
        if parser.reports > before { adapters[index].lastHeard = now }
        adapters[index].reports = parser.reports
        adapters[index].malformed = parser.malformed
        parsers[index] = parser
    }

    /// - Returns: nil at the end of the recording, and after an error.
    private static func readAhead(_ reader: inout CaptureReader?, _ output: any ScannerOutput) -> CaptureRecord? {
        do throws(CaptureError) {
            return try reader?.advance()
        } catch {
            output.notice(Notice(.error, error.description))
            return nil
        }
    }

    /// The recorder's drops belong to no adapter, so the first one counts them.
    private func countLost(_ lost: UInt64?) {
        guard let lost, !adapters.isEmpty else { return }
        adapters[0].lost += lost - lostSeen
        lostSeen = lost
    }

    /// The index of the adapter's entry. An adapter listens from its first event on.
    @discardableResult
    private func listen(_ receiver: Receiver) -> Int {
        if let index = adapters.firstIndex(where: { $0.receiver == receiver }) { return index }
        var status = AdapterStatus(receiver: receiver, name: "\(path) hci\(receiver.index)")
        status.isListening = true
        adapters.append(status)
        parsers.append(AdvertisingReportParser())
        output.listening(true, of: receiver, at: host.now, because: "plays \(path)")
        return adapters.count - 1
    }
}
