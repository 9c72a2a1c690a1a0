package import JSON

/// One result of the health check, and what to do if it is bad.
package struct Finding: Hashable, Sendable {
    package enum Level: String, CaseIterable, Sendable { case ok, warning, error }

    package var level: Level
    /// What was checked: `adapter`, `broker`, `clock` …
    package var subject: String
    package var text: String
    /// What to do; empty if nothing.
    package var cure: String

    package init(_ level: Level, _ subject: String, _ text: String, cure: String = "") {
        self.level = level
        self.subject = subject
        self.text = text
        self.cure = cure
    }
}

extension Finding {
    package var json: JSONValue {
        ["level": .string(level.rawValue), "subject": .string(subject), "text": .shown(text), "cure": .string(cure)]
    }
}

extension Finding {
    /// Reads what `json` wrote; nil for what it did not write.
    package init?(reading json: JSONValue) {
        guard let level = json["level"]?.string.flatMap(Level.init(rawValue:)), let text = json["text"]?.string else {
            return nil
        }
        self.init(level, json["subject"]?.string ?? "", text, cure: json["cure"]?.string ?? "")
    }
}
