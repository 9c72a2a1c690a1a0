package import JSON

/// One result of the health check, and what to do if it is bad.
package struct Finding: Hashable, Sendable {
    package enum Level: String, CaseIterable, Sendable { case ok, warning, error }

    package var level: Level
    /// What was checked: `adapter`, `broker`, `clock` …
    package var subject: String
    package var text: String
    /// What to do; empty if nothing.
    package var remedy: String

    package init(_ level: Level, _ subject: String, _ text: String, remedy: String = "") {
        self.level = level
        self.subject = subject
        self.text = text
        self.remedy = remedy
    }
}

extension Finding {
    package var json: JSONValue {
        ["level": .string(level.rawValue), "subject": .string(subject), "text": .shown(text), "cure": .string(remedy)]
    }
}

extension Finding {
    /// Reads what `json` wrote; nil for what it did not write.
    package init?(reading json: JSONValue) {
        guard let level = json["level"]?.string.flatMap(Level.init(rawValue:)), let text = json["text"]?.string else {
            return nil
        }
        self.init(level, json["subject"]?.string ?? "", text, remedy: json["cure"]?.string ?? "")
    }
}
