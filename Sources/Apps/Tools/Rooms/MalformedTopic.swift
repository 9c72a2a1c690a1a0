import Health
import JSON

/// Messages on one topic that the rooms service could not read, as its page says.
struct MalformedTopic {
    let name: String
    let reason: String
    let count: Int64
    /// Time since the last of them.
    let ago: Duration
    let json: JSONValue

    /// - Returns: nil for what no service says.
    init?(_ json: JSONValue) {
        guard let name = json["topic"]?.string, let reason = json["reason"]?.string,
            let count = json["count"]?.asInteger, let ago = json["ago"]?.asSeconds
        else { return nil }
        (self.name, self.reason, self.count, self.ago, self.json) = (name, reason, count, ago, json)
    }
}
