extension Configuration {
    /// A file that sets nothing and explains everything: each setting is commented out, with its default or, without
    /// one, an example.
    package static var commentedDefault: String {
        var lines = [
            "// The configuration of ibeacon-gateway. Remove the slashes before a setting to change it.",
            "// This is JSON5: comments and trailing commas are welcome. An OwnTracks .otrc file works too.",
            "{",
            "    _type: \"configuration\",",
        ]
        for section in Setting.sections {
            lines += ["", "    // ==== \(section.title) ===="]
            for setting in section.settings { lines += [""] + commented(setting, indentation: "    ") }
        }
        lines += ["}", ""]
        return lines.joined(separator: "\n")
    }

    /// The explanation of a setting and, after slashes, its value.
    private static func commented(_ setting: Setting, indentation: String) -> [String] {
        let explanation = setting.explanation.map { "\(indentation)// \($0)" }
        guard setting.members.isEmpty else {
            let members = setting.members.flatMap { commented($0, indentation: indentation + "    ") }
            return explanation + ["\(indentation)//\(setting.name): {"] + members + ["\(indentation)//},"]
        }
        let note = setting.isDefault ? "" : "  // example"
        return explanation + ["\(indentation)//\(setting.member): \(setting.value),\(note)"]
    }
}
