import JSON

/// What a running service of this machine says of its connections.
struct RunningService {
    /// Subjects of the service's findings that no check of `doctor` can replace: only the service knows what it was refused, and
    /// whether its connection lasts.
    private static let subjects: Set<String> = ["broker", "server", "connection", "rights", "limits", "queue"]

    let isConnected: Bool
    private let problems: [(text: String, cure: String)]

    /// - Returns: nil if no service answers.
    init?(of stateDirectory: String) {
        guard let status = try? StatusClient(stateDirectory: stateDirectory).ask("/status.json") else { return nil }
        self.init(status)
    }

    init(_ status: JSONValue) {
        let brokers = status["brokers"]?.array ?? [status["broker"]].compactMap(\.self)
        isConnected = brokers.first?["state"]?.string == "connected"
        problems = (status["findings"]?.array ?? []).compactMap { finding in
            guard finding["level"]?.string != "ok", let subject = finding["subject"]?.string,
                Self.subjects.contains(subject), let text = finding["text"]?.string
            else { return nil }
            return (text, finding["cure"]?.string ?? "")
        }
    }

    /// - Parameter name: Of the service, as a subject.
    func findings(of name: String) -> [DoctorFinding] {
        guard !problems.isEmpty else {
            return [DoctorFinding(.service, "\(name) answers, and is refused nothing")]
        }
        return problems.map { problem in
            let cure = problem.cure.isEmpty ? "see: ibeacon-gateway status" : problem.cure
            return DoctorFinding(.service, "\(name) says: \(problem.text)", cure: cure)
        }
    }
}
