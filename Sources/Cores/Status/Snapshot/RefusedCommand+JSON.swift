import Base
import Health
import JSON
import OwnTracks

extension RecentRefusals.Refusal {
    func json(at now: MonotonicInstant) -> JSONValue {
        [
            "topic": .shown(topic), "reason": .shown(text), "count": .count(count), "ago": .ago(last, at: now),
        ]
    }

    /// Reads what `json(at:)` wrote; nil for what it did not write.
    init?(reading json: JSONValue, at now: MonotonicInstant) {
        guard let topic = json["topic"]?.string, let text = json["reason"]?.string,
            let last = json["ago"]?.instant(before: now)
        else { return nil }
        self.init(topic: topic, text: text, count: json["count"]?.asCount ?? 1, last: last)
    }
}
