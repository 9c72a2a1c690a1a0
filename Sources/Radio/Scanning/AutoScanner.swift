package import Base
package import Beacon

/// Scans by the best interface that works, falls back to the next when it fails, and returns to a better one by itself.
package final class AutoScanner: Scanner {
    /// One interface to Bluetooth that may be used.
    package struct Candidate {
        /// The name in the configuration.
        package let name: String
        /// A short description for the log.
        package let explanation: String
        package let make: () throws(ScannerError) -> any Scanner

        package init(
            _ name: String, _ explanation: String, make: @escaping () throws(ScannerError) -> any Scanner
        ) {
            self.name = name
            self.explanation = explanation
            self.make = make
        }
    }

    private static let checkInterval = Duration.seconds(5)

    private let candidates: [Candidate]
    private let host: any EventHost
    private weak var output: (any ScannerOutput)?
    private var current: (rank: Int, scanner: any Scanner)?
    /// Why the better candidates are not in use, as last logged.
    private var saidReasons: [String] = []
    private var timer: (any EventRegistration)?
    /// Applies to the one in use, and to each that is tried later.
    private var duty = ScanDuty.full
    /// The same holds for these.
    private var patterns: [BeaconPacketPattern] = []
    private var wantsAll = false
    private var offersActiveScan = false
    private var nextClimb = MonotonicInstant.zero
    /// Each fall makes the next climb wait longer, so that one that starts and then fails does not alternate with another.
    private var climbs = Backoff(from: .seconds(30), to: .seconds(600))

    /// - Parameter candidates: The best first.
    package init(candidates: [Candidate], host: any EventHost, output: any ScannerOutput) {
        self.candidates = candidates
        self.host = host
        self.output = output
    }

    /// The name of the one in use.
    package var chosen: String? { current.map { candidates[$0.rank].name } }

    package var adapters: [AdapterStatus] { current?.scanner.adapters ?? [] }

    /// That of the one in use, or why none works.
    package var problem: ScanProblem? {
        if let current { return current.scanner.problem }
        guard !saidReasons.isEmpty else { return nil }
        return ScanProblem(
            "no way of scanning works: \(saidReasons.joined(separator: "; "))", remedy: "it is tried again")
    }

    /// Never throws. Those that do not work now are tried again: plugging in a missing dongle may load the kernel's Bluetooth.
    package func start() throws(ScannerError) {
        choose(betterThan: candidates.count, because: [])
        schedule()
    }

    package func setDuty(_ duty: ScanDuty) {
        self.duty = duty
        current?.scanner.setDuty(duty)
    }

    package func setPatterns(_ patterns: [BeaconPacketPattern]) {
        self.patterns = patterns
        current?.scanner.setPatterns(patterns)
    }

    package func setWantsAll(_ wantsAll: Bool) {
        self.wantsAll = wantsAll
        current?.scanner.setWantsAll(wantsAll)
    }

    package func setOffersActiveScan(_ offers: Bool) {
        offersActiveScan = offers
        current?.scanner.setOffersActiveScan(offers)
    }

    package func scanActively(_ isWanted: Bool, by receiver: Receiver) {
        current?.scanner.scanActively(isWanted, by: receiver)
    }

    package func pauseScan(_ isPaused: Bool, by receiver: Receiver) {
        current?.scanner.pauseScan(isPaused, by: receiver)
    }

    package func stop() {
        timer?.cancel()
        timer = nil
        current?.scanner.stop()
        current = nil
    }

    /// Starts the best working candidate before `rank`, then stops the one in use.
    private func choose(betterThan rank: Int, because earlier: [String], except failed: Int? = nil) {
        var reasons = earlier
        for (index, candidate) in candidates.enumerated().prefix(rank) where index != failed {
            do throws(ScannerError) {
                let scanner = try candidate.make()
                scanner.setDuty(duty)
                scanner.setPatterns(patterns)
                scanner.setWantsAll(wantsAll)
                scanner.setOffersActiveScan(offersActiveScan)
                try scanner.start()
                current?.scanner.stop()
                current = (index, scanner)
                return announce(candidate, reasons)
            } catch {
                reasons.append("\(candidate.name): \(error.description)")
            }
        }
        if current == nil { complain(reasons) }
    }

    private func announce(_ candidate: Candidate, _ reasons: [String]) {
        saidReasons = reasons
        let because = reasons.isEmpty ? "the best way works here" : reasons.joined(separator: "; ")
        output?.notice(
            Notice(
                reasons.isEmpty ? .info : .warning,
                "scanning by \(candidate.name) (\(candidate.explanation)), because \(because)"))
        nextClimb = host.now.advanced(by: climbs.delay)
    }

    private func complain(_ reasons: [String]) {
        guard reasons != saidReasons else { return }
        saidReasons = reasons
        output?.notice(Notice(.error, "no way of scanning works: \(reasons.joined(separator: "; "))"))
    }

    private func schedule() {
        timer = host.at(host.now.advanced(by: Self.checkInterval)) { [weak self] in
            guard let self else { return }
            check()
            schedule()
        }
    }

    private func check() {
        guard let current else { return choose(betterThan: candidates.count, because: []) }
        if let failure = (current.scanner as? any FallibleScanner)?.failure {
            current.scanner.stop()
            self.current = nil
            climbs.failed()
            return choose(
                betterThan: candidates.count, because: ["\(candidates[current.rank].name): \(failure.description)"],
                except: current.rank)
        }
        if current.rank > 0, host.now >= nextClimb {
            nextClimb = host.now.advanced(by: climbs.delay)
            choose(betterThan: current.rank, because: [])
        }
    }
}
