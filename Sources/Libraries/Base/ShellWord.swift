/// Words of a command line, for advice that a person copies into a shell. A name may have any character: a phone is often called
/// `Anna's iPhone`.
package enum ShellWord {
    /// Characters, besides letters and digits of ASCII, that mean nothing to a shell.
    private static let plain = "-_./:@%+,".unicodeScalars

    /// The text as it is, if a shell would not change it, else in quotation marks.
    package static func of(_ text: String) -> String {
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            scalar.isASCII
                && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil || plain.contains(scalar))
        }
        return isPlain && !text.isEmpty ? text : quoted(text)
    }

    /// The text in quotation marks, as one word (POSIX.1-2017, Shell Command Language, 2.2.2).
    package static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
