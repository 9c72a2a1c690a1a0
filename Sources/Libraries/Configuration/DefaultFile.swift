extension Configuration {
    /// A file that sets nothing and explains everything: each setting is commented out, with its default or, without
    /// one, an example. `Scripts/interface` makes the settings' part of the manual page of it.
    package static var commentedDefault: String {
        var lines =
            comment(
                """
                The configuration of ibeacon-gateway. Remove the slashes before a setting to change it. This is JSON5:
                comments and trailing commas are welcome. An OwnTracks .otrc file works too.
                """)
        lines += ["//"]
        lines += comment(
            """
            "\(changeTitle)" says what a changed value needs after a reload, in each service that uses the setting:
            nothing (at once), a new connection to the broker, which the service makes by itself, or a restart.
            A setting without such a line is used by the gateway alone, where a change takes effect at once.
            """)
        lines += ["{", "    _type: \"configuration\","]
        for section in Setting.sections {
            lines += ["", "    // ==== \(section.title) ===="]
            for setting in section.settings { lines += [""] + commented(setting, indentation: "    ") }
        }
        lines += ["}", ""]
        return lines.joined(separator: "\n")
    }

    /// What begins the line about the effects of a change.
    static let changeTitle = "A change:"
    /// The longest line of a comment, with its indentation and slashes.
    static let longestComment = 100

    /// The words of a setting, what a change needs, and, after slashes, its value.
    private static func commented(_ setting: Setting, indentation: String) -> [String] {
        var lines = comment(setting.words(), indentation: indentation)
        if let effects = setting.effects.words { lines.append("\(indentation)// \(changeTitle) \(effects).") }
        guard setting.members.isEmpty else {
            let members = setting.members.map { commented($0, indentation: indentation + "    ") }
            return lines + ["\(indentation)//\(setting.name): {"] + members.joined(separator: [""])
                + ["\(indentation)//},"]
        }
        let note = setting.isDefault ? "" : "  // example"
        return lines + ["\(indentation)//\(setting.member): \(setting.value),\(note)"]
    }

    /// A text as lines of a comment. A word that is longer than a line has a line of its own.
    static func comment(_ text: String, indentation: String = "") -> [String] {
        var lines: [String] = []
        for word in text.split(whereSeparator: \.isWhitespace) {
            if let last = lines.last, last.count + 1 + word.count <= longestComment {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append("\(indentation)// \(word)")
            }
        }
        return lines
    }
}
