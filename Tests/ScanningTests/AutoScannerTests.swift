import Base
import Beacon
import HostSupport
import Scanning
import Testing

/// A way of scanning that does what the test says.
private final class FakeScanner: FallibleScanner {
    let hasDied = false
    var failure: ScannerError?
    var startError: ScannerError?
    var isRunning = false
    var duty: ScanDuty?
    var adapters: [AdapterStatus] { [] }

    func start() throws(ScannerError) {
        if let startError { throw startError }
        isRunning = true
    }

    func stop() { isRunning = false }
    func setDuty(_ duty: ScanDuty) { self.duty = duty }
}

private final class Notices: ScannerOutput {
    var notices: [Notice] = []

    func heard(_ report: AdvertisingReport, data: Span<UInt8>, by receiver: Receiver, at instant: MonotonicInstant) {}
    func listening(_ isListening: Bool, of receiver: Receiver, at instant: MonotonicInstant, because reason: String) {}
    func notice(_ notice: Notice) { notices.append(notice) }
    func finished(at instant: MonotonicInstant) {}
}

@Suite struct AutoScannerTests {
    private let best = FakeScanner()
    private let second = FakeScanner()
    private let host = ManualHost()
    private let output = Notices()
    private let scanner: AutoScanner
    private static let refusal = ScannerError(.permission, "needs a right")

    init() {
        scanner = AutoScanner(
            candidates: [
                AutoScanner.Candidate("best", "hears all") { [best] in best },
                AutoScanner.Candidate("second", "hears less") { [second] in second },
            ], host: host, output: output)
    }

    @Test func takesTheBestWayAndSaysSoInOneLine() throws {
        try scanner.start()
        #expect(best.isRunning && !second.isRunning)
        #expect(
            output.notices == [Notice(.info, "scanning by best (hears all), because the best way works here")])
    }

    @Test func theWayInUseAndTheOnesAfterItHaveTheDuty() throws {
        scanner.setDuty(ScanDuty(share: 0.5))
        try scanner.start()
        #expect(best.duty?.share == 0.5)
        scanner.setDuty(ScanDuty(share: 0.25))
        #expect(best.duty?.share == 0.25)
        best.failure = ScannerError(.unavailable, "refused")
        host.advance(by: .seconds(6))
        #expect(second.duty?.share == 0.25)
    }

    @Test func takesTheNextWayAndSaysWhy() throws {
        best.startError = Self.refusal
        try scanner.start()
        #expect(scanner.chosen == "second")
        #expect(
            output.notices == [
                Notice(.warning, "scanning by second (hears less), because best: needs a right")
            ])
    }

    @Test func climbsBackWhenTheBestWayWorksAgain() throws {
        best.startError = Self.refusal
        try scanner.start()
        best.startError = nil
        host.advance(by: .seconds(40))
        #expect(best.isRunning && !second.isRunning)
    }

    @Test func fallsBackWhenAWayFailsLater() throws {
        try scanner.start()
        best.failure = ScannerError(.unavailable, "refused")
        host.advance(by: .seconds(6))
        #expect(!best.isRunning && second.isRunning)
        #expect(output.notices.last?.text == "scanning by second (hears less), because best: refused")
    }

    @Test func doesNotTakeTurnsWithAWayThatKeepsFailing() throws {
        best.failure = ScannerError(.unavailable, "refused")
        try scanner.start()
        host.advance(by: .seconds(3600))
        // Once at the start, then after 1, 2, 4, 8 and every 10 minutes.
        #expect(output.notices.count < 25)
    }

    @Test func goesOnTryingWhereNothingWorks() throws {
        best.startError = Self.refusal
        second.startError = Self.refusal
        try scanner.start()
        host.advance(by: .seconds(60))
        #expect(output.notices.count == 1)
        #expect(output.notices.first?.priority == .error)
        second.startError = nil
        host.advance(by: .seconds(10))
        #expect(scanner.chosen == "second")
    }

    @Test func stopsWhatItStarted() throws {
        try scanner.start()
        scanner.stop()
        host.advance(by: .seconds(60))
        #expect(!best.isRunning && !second.isRunning)
    }
}
