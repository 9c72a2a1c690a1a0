import JSON
import RoomsApp

/// What arrives and counts for nothing, as the rooms service of this machine says.
struct UnreadMessages {
    /// Ids under which ESPresense nodes publish what the service does not know.
    var unknownIDs: [String] = []
    /// Topics with messages that it could not read.
    var malformed: [MalformedTopic] = []

    init() {}

    /// - Parameter page: The service's `/status.json`.
    init(_ page: JSONValue) {
        unknownIDs = (page["unknownIds"]?.array ?? []).compactMap(\.string)
        malformed = (page["malformed"]?.array ?? []).compactMap(MalformedTopic.init)
    }

    /// Sentences for users. Of topics, the latest come first; of many, the first few are told.
    var remarks: [String] {
        let latest = malformed.sorted { $0.ago < $1.ago }
        let told = latest.prefix(GatewayAdvice.mostNamed).map { topic in
            let times = topic.count == 1 ? "once" : "\(topic.count) times"
            return
                "what arrives on \(topic.name) cannot be read: \(topic.reason) (\(times), last \(StatusText.span(topic.ago)) ago)"
        }
        let left = latest.count - told.count
        return unknown + told
            + (left > 0 ? ["\(left) more topics have messages that cannot be read; --json lists them"] : [])
    }

    private var unknown: [String] {
        guard !unknownIDs.isEmpty else { return [] }
        let names = GatewayAdvice.list(unknownIDs.map { "'\($0)'" })
        return [
            "ESPresense nodes publish \(names), and it is not known which beacons these are: what they hear of them counts for nothing, "
                + "unless ESPresense's settings of a beacon give it such an id"
        ]
    }
}
