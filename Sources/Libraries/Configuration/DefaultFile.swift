extension Configuration {
    /// A file that sets nothing and explains everything: each setting is commented out with its
    /// default, or with an example where it has none.
    package static var commentedDefault: String {
        var lines = [
            "// The configuration of ibeacon-gateway. Remove the slashes before a setting to change it.",
            "// This is JSON5: comments and trailing commas are welcome. An OwnTracks .otrc file works too.",
            "{",
            "    _type: \"configuration\",",
        ]
        for section in Setting.sections {
            lines += ["", "    // ==== \(section.title) ===="]
            for setting in section.settings {
                lines.append("")
                lines += setting.explanation.map { "    // \($0)" }
                let note = setting.isDefault ? "" : "  // example"
                lines.append("    //\(setting.name): \(setting.value),\(note)")
            }
        }
        lines += ["}", ""]
        return lines.joined(separator: "\n")
    }
}
