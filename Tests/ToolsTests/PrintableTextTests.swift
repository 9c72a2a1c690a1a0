import Base
import Beacon
import JSON
import Testing

@testable import Tools

/// What commands print of texts from outside.
@Suite struct PrintableTextTests {
    private static let harmful: [UInt32] = [
        0x00, 0x07, 0x08, 0x0d, 0x1b, 0x1f, 0x7f, 0x80, 0x9b, 0x9f, 0x061c, 0x200b, 0x200c, 0x200e, 0x200f, 0x2028,
        0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2060, 0x2066, 0x2067, 0x2068, 0x2069, 0x3164, 0xfeff,
        0xe0041,
    ]

    private static func name(_ value: UInt32) -> String {
        var name = "Kit"
        if let scalar = Unicode.Scalar(value) { name.unicodeScalars.append(scalar) }
        return name + "chen"
    }

    @Test(arguments: harmful)
    func `A character that controls the terminal, or is not seen, is shown as a replacement`(value: UInt32) {
        #expect(PrintableText.shown(Self.name(value)) == "Kit\u{FFFD}chen")
        #expect(PrintableText.shown(Self.name(value), keepsLines: true) == "Kit\u{FFFD}chen")
        #expect(Terminal.table(["NAME"], [[Self.name(value)]]) == "NAME\nKit\u{FFFD}chen")
    }

    @Test(arguments: harmful)
    func `In JSON it is escaped: harmless for a terminal, and the same for a parser`(value: UInt32) throws {
        let truth = JSONValue.object(["name": .string(Self.name(value))])
        let printed = PrintableText.escaped(json: truth.text)
        #expect(printed.utf8.allSatisfy { 0x20..<0x7f ~= $0 })
        #expect(try JSONValue(parsing: Array(printed.utf8)) == truth)
    }

    @Test func `Line feeds and tabs stay in a whole output, and not in a name`() {
        #expect(PrintableText.shown("a\n\tb", keepsLines: true) == "a\n\tb")
        #expect(PrintableText.shown("a\n\tb") == "a\u{FFFD}\u{FFFD}b")
        #expect(PrintableText.line("a\nb\u{202e}") == "a b\u{FFFD}")
    }

    @Test(
        arguments: [
            "Küche", "厨房", "Κουζίνα", "مطبخ", "किचन", "👩‍🍳", "🏳️‍🌈", "❤️", "👍🏽", "e\u{301}", "«Bad» – №1 €",
        ])
    func `Names of all languages, and emoji of several people, stay as they are`(name: String) {
        #expect(PrintableText.shown(name) == name)
        #expect(PrintableText.escaped(json: name) == name)
    }

    @Test func `A joiner between letters is not seen, and is replaced`() {
        #expect(PrintableText.shown("Kit\u{200d}chen") == "Kit\u{FFFD}chen")
        #expect(PrintableText.shown("1\u{200d}2") == "1\u{FFFD}2")
    }

    @Test func `In CSV nothing is lost`() {
        #expect(CSV.quoted("a\u{1b}b\u{202e}c") == #"a\x1bb\u202ec"#)
    }
}
