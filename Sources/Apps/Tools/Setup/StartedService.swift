import Base
import Glibc
import ServiceDiscovery
import System

/// Whether a service that was just started runs. That the service manager took the order is no evidence: a service may end, and be
/// started again, for ever.
struct StartedService {
    /// What is known at one look.
    enum Verdict: Equatable {
        case runs
        /// It may still come.
        case notYet(String)
        /// It will not come by itself.
        case ended(String)
    }

    let service: SystemService
    let stateDirectory: String

    /// Time in which a service must answer.
    private static let patience: Duration = .seconds(20)
    /// Time between two looks.
    private static let pause: UInt32 = 300_000

    /// - Parameters:
    ///   - state: What the service manager says.
    ///   - answers: Whether the service itself answers.
    static func verdict(_ state: UnitQuestion.Answer, answers: Bool) -> Verdict {
        switch state {
        case .state(let state) where SystemService.isRunning(state):
            answers ? .runs : .notYet("systemd says \(state), and it does not answer")
        case .state(let state) where ["failed", "inactive"].contains(state): .ended("systemd says \(state)")
        case .state(let state): .notYet("systemd says \(state)")
        case .unknown(let reason): answers ? .runs : .notYet("it does not answer, and \(reason)")
        }
    }

    /// Waits until the service runs.
    ///
    /// - Throws: Why it does not.
    func check() throws(Failure) {
        guard let problem = problem() else { return }
        let name = service.unit.split(separator: ".")[0]
        throw Failure(
            .temporaryFailure,
            "the files are written, but \(service.unit) was started and does not run: \(problem); why: journalctl -u \(name) -n 20"
        )
    }

    /// Waits until the service runs.
    ///
    /// - Returns: Why it does not; nil if it runs.
    private func problem() -> String? {
        let end = Clocks.now().advanced(by: Self.patience)
        while true {
            let answers =
                (try? StatusClient(stateDirectory: stateDirectory, within: .seconds(1)).ask("/status.json")) != nil
            let verdict = Self.verdict(service.state(), answers: answers)
            switch verdict {
            case .runs: return nil
            case .ended(let reason): return reason
            case .notYet(let reason): if Clocks.now() >= end { return reason }
            }
            usleep(Self.pause)
        }
    }
}
