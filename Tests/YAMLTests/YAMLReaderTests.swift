import Testing

@testable import YAML

/// What a YAML text means, and what it costs.
@Suite struct YAMLReaderTests {
    private func read(_ text: String) throws -> YAMLNode? { try YAMLReader.read(Array(text.utf8)) }

    /// A node as one line.
    private func shown(_ node: YAMLNode?) -> String {
        guard let node else { return "nothing" }
        return switch node.content {
        case .scalar(let text, let isPlain): isPlain ? text : "'\(text)'"
        case .sequence(let elements): "[\(elements.map { shown($0) }.joined(separator: ", "))]"
        case .mapping(let members): "{\(members.map { "\($0.key): \(shown($0.value))" }.joined(separator: ", "))}"
        }
    }

    @Test(arguments: [
        ("", "nothing"), ("# only a comment\n", "nothing"), ("a", "a"), ("a: 1\nb: 'x'\n", "{a: 1, b: 'x'}"),
        ("- a\n- b\n", "[a, b]"), ("a:\n  - b: 1\n    c: 2\n  - d\n", "{a: [{b: 1, c: 2}, d]}"),
        ("{\"a\": [1, 2], b: {}}", "{a: [1, 2], b: {}}"), ("a: |\n  two\n  lines\n", "{a: 'two\nlines\n'}"),
        ("a: &x [1]\nb: *x\n", "{a: [1], b: [1]}"), ("--- \na: 1\n...\n", "{a: 1}"), ("a:\n", "{a: }"),
        ("\u{FEFF}a: 1", "{a: 1}"),
    ])
    func `a document`(text: String, expected: String) throws {
        #expect(shown(try read(text)) == expected)
    }

    @Test(
        arguments: [
            ("7750fb4dab70", "7750fb4dab70", nil, nil), ("12", "12", 12, nil), ("'12'", "12", nil, nil),
            ("-61", "-61", -61, nil),
            ("0x0000FF00", "0x0000FF00", 0xff00, nil), ("0x-1", "0x-1", nil, nil), ("0o17", "0o17", 15, nil),
            ("true", "true", nil, true), ("'true'", "true", nil, nil), ("yes", "yes", nil, nil), ("~", nil, nil, nil),
            ("null", nil, nil, nil), ("'null'", "null", nil, nil), ("!!str 12", "12", nil, nil),
            ("99999999999999999999", "99999999999999999999", nil, nil),
        ] as [(String, String?, Int64?, Bool?)])
    func `a scalar has the type of the core schema`(text: String, string: String?, integer: Int64?, boolean: Bool?)
        throws
    {
        let node = try #require(try read(text))
        #expect(node.text == string && node.integer == integer && node.boolean == boolean)
    }

    @Test func `a node knows its line`() throws {
        let members = try #require(try read("a: 1\n\n# what follows\nb:\n  - 2\n")?.mapping)
        #expect(members.map(\.value.line) == [1, 5])
    }

    @Test(arguments: [
        ("a: 1\na: 2\n", "line 2: a key is there twice"), ("? [a]\n: b\n", "line 1: a key is not a word"),
        ("a: *x\n", "line 1: an alias names no anchor before it"),
        ("a: &x [*x]\n", "line 1: an alias names no anchor before it"),
        ("a: 1\n--- \nb: 2\n", "line 2: a second document begins"), ("a: [1\nb: 2\n", "line 2: "),
        ("\ta: 1", "line 1: "),
        ("a: \"\u{7}\"", "control characters are not allowed"),
    ])
    func `a mistake is named with its line`(text: String, message: String) throws {
        let error = #expect(throws: YAMLError.self) { try read(text) }
        #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "")")
    }

    @Test func `a message never repeats the text, which may be a password`() {
        let error = #expect(throws: YAMLError.self) { try read("password: top\nsecret: \"hush\n") }
        #expect(error?.description.contains("hush") == false)
    }

    @Test func `aliases of aliases count as what they stand for`() {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...9 {
            let before = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
            text += "a\(level): &a\(level) [\(before)]\n"
        }
        let error = #expect(throws: YAMLError.self) { try read(text) }
        #expect(error?.description == "line 4: it has more than 10000 values")
    }

    @Test(arguments: [
        (String(repeating: "[", count: 33), "more than 32 levels are nested"),
        (String(repeating: "- ", count: 33) + "a", "more than 32 levels are nested"),
        (String(repeating: "- a\n", count: 10_000), "it has more than 10000 values"),
        (String(repeating: "#", count: 65_537), "it has 65537 bytes; at most 65536 are read"),
    ])
    func `a text of a size that no person writes is refused`(text: String, message: String) {
        let error = #expect(throws: YAMLError.self) { try read(text) }
        #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
    }

    @Test func `bytes that are no UTF-8 are refused`() {
        #expect(throws: YAMLError.self) { try YAMLReader.read([0x61, 0x3a, 0x20, 0xff, 0xfe]) }
    }

    /// The costliest texts that libyaml takes in this size: each is read or refused in a moment.
    @Test(arguments: [
        "{", "[", "? ", "- ", "a: ", "&a ", "!!a ", "\"\\x", "a,", "{a: ", "? a\n", "*a ", "%YAML ", "'", "|\n",
        "---\n",
    ])
    func `no text of this size takes long`(unit: String) {
        let text = String(repeating: unit, count: YAMLLimits.bytes / unit.utf8.count)
        let duration = ContinuousClock().measure { _ = try? read(text) }
        #expect(duration < .seconds(10), "\(unit): \(duration)")
    }
}
