import Base
import TestSupport
import Testing

@testable import Tools

/// Words in the command lines that are advised.
@Suite struct ShellWordTests {
    @Test(
        arguments: [
            ("Jane", "Jane", "'Jane'"), ("Anna's iPhone", #"'Anna'\''s iPhone'"#, #"'Anna'\''s iPhone'"#),
            ("kitchen,hall", "kitchen,hall", "'kitchen,hall'"),
            ("/etc/a-b_c.json", "/etc/a-b_c.json", "'/etc/a-b_c.json'"),
            ("$(id) `id`", "'$(id) `id`'", "'$(id) `id`'"), ("", "''", "''"), ("'", #"''\'''"#, #"''\'''"#),
            ("Küche", "'Küche'", "'Küche'"), ("a\nb", "'a\nb'", "'a\nb'"),
        ])
    func `A word is in quotation marks where a shell would change it`(text: String, word: String, quoted: String) {
        #expect(ShellWord.of(text) == word)
        #expect(ShellWord.quoted(text) == quoted)
    }

    @Test func `A shell reads each word as the text that was meant`() throws {
        for text in ["Anna's iPhone", "a \"b\" $c `d` \\ e", "'", "''", "*", "~", "-n"] {
            #expect(try run("sh", ["-c", "printf '%s' \(ShellWord.of(text))"]) == text)
        }
    }
}
