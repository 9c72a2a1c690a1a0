import Testing
import YAML

@testable import Tools

/// What is written as YAML is read back by libyaml.
@Suite struct CloudTextTests {
    private func read(_ value: CloudText) throws -> YAMLNode {
        try #require(try YAMLReader.read(Array(value.yaml.utf8)))
    }

    private func member(_ name: String, of node: YAMLNode?) -> YAMLNode? {
        node?.mapping?.first { $0.key == name }?.value
    }

    static let texts = [
        "", "plain", "yes", "null", "12", "a: b # c", "- x", "'single' \"double\" \\back", "tab\tand\u{1}", "Küche 🏠",
        "\u{FEFF}mark",
        "line\u{2028}and\u{85}and\u{7F}", "one line\n", "two\nlines\n", "two\nlines", "  indented\nfirst\n",
        "ends with more\n\n",
        "\nbegins with none\n", "carriage\r\nreturn\n", "#!/bin/sh\n\n    deep\n\nend\n", "%directive\n", "---\n",
        "blank at the end \n",
    ]

    @Test(arguments: texts) func `Any text comes back, as a value, in a list, as a key and as a word`(text: String)
        throws
    {
        let value: CloudText = .map([
            ("plain", .text(text)), ("listed", .list([.map([("deep", .text(text)), ("number", .number(1))])])),
            ("words", .list([.text("a"), .text(text)])), ("named", .map([(text, .flag(true))])),
        ])
        let node = try read(value)
        let bytes = Array(text.utf8)
        #expect(member("plain", of: node)?.text.map { Array($0.utf8) } == bytes, "\(value.yaml)")
        #expect(member("deep", of: member("listed", of: node)?.sequence?.first)?.text.map { Array($0.utf8) } == bytes)
        #expect(member("words", of: node)?.sequence?.last?.text.map { Array($0.utf8) } == bytes)
        #expect(member("named", of: node)?.mapping?.first.map { Array($0.key.utf8) } == bytes)
    }

    @Test func `A person can read it`() {
        let value: CloudText = .map([
            ("hostname", .text("kitchen")), ("none", .map([])), ("nothing", .list([])), ("on", .flag(true)),
            ("files", .list([.map([("path", .text("/a")), ("content", .text("one\n\n  two\n"))])])),
            ("commands", .list([.list([.text("a"), .text("b")])])),
        ])
        #expect(
            value.yaml == """
                hostname: "kitchen"
                none: {}
                nothing: []
                on: true
                files:
                  - path: "/a"
                    content: |
                      one

                        two
                commands:
                  - ["a", "b"]

                """)
    }
}
