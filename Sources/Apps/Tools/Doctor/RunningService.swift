import Base
import Glibc
import JSON
import System

/// What a running service of this machine says about its connections.
struct RunningService {
    /// Subjects of the service's findings that no check of `doctor` can replace: only the service knows what it was refused, and
    /// whether its connection lasts.
    private static let subjects: Set<String> = [
        "broker", "server", "connection", "rights", "limits", "queue", "survey", "page",
    ]

    /// What needs a person some day. The service works meanwhile.
    private static let care: Set<String> = ["battery", "unheard", "version"]

    let isConnected: Bool
    /// Whether it does not know yet whether the broker, or the server, admits it.
    let isConnecting: Bool
    /// Whether nothing is in the way of its page, where one is configured.
    let servesPage: Bool
    private let problems: [(text: String, remedy: String)]
    private let cares: [(text: String, remedy: String)]

    /// - Returns: nil if no service answers.
    init?(of stateDirectory: String) {
        guard let status = try? StatusClient(stateDirectory: stateDirectory).ask("/status.json") else { return nil }
        self.init(status)
    }

    init(_ status: JSONValue) {
        let brokers = status["brokers"]?.array ?? [status["broker"]].compactMap(\.self)
        let state = brokers.first?["state"]?.string
        (isConnected, isConnecting) = (state == "connected", state == "connecting")
        servesPage = !(status["findings"]?.array ?? []).contains { finding in
            finding["subject"] == "page" && finding["level"] != "ok"
        }
        func found(_ subjects: Set<String>) -> [(text: String, remedy: String)] {
            (status["findings"]?.array ?? []).compactMap { finding in
                guard finding["level"]?.string != "ok", let subject = finding["subject"]?.string,
                    subjects.contains(subject), let text = finding["text"]?.string
                else { return nil }
                return (text, finding["cure"]?.string ?? "")
            }
        }
        (problems, cares) = (found(Self.subjects), found(Self.care))
    }

    /// Asks a service that was just started until it knows whether the broker admits it: before that, what it is refused is not known.
    ///
    /// - Parameters:
    ///   - patience: The longest time. The last answer counts then.
    ///   - pause: Between two questions.
    /// - Returns: nil if no service answers.
    static func settled(
        within patience: Duration, pause: Duration = .milliseconds(200), asking ask: () -> RunningService?
    ) -> RunningService? {
        let end = Clocks.now().advanced(by: patience)
        while let service = ask() {
            guard service.isConnecting, Clocks.now() < end else { return service }
            usleep(UInt32(clamping: pause.nanoseconds / 1000))
        }
        return nil
    }

    /// - Parameter name: Of the service, as a subject.
    func findings(of name: String) -> [DoctorFinding] {
        let cares = cares.map { DoctorFinding(.service, "\(name) says: \($0.text)", advice: $0.remedy) }
        guard !problems.isEmpty else {
            return [DoctorFinding(.service, "\(name) answers, and is refused nothing")] + cares
        }
        return problems.map { problem in
            let remedy = problem.remedy.isEmpty ? "see: sudo ibeacon-gateway status" : problem.remedy
            return DoctorFinding(.service, "\(name) says: \(problem.text)", remedy: remedy)
        } + cares
    }
}
