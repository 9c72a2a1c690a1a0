import Testing

@testable import Identities

@Suite("The file of the keys of phones")
struct PhoneKeysTests {
    static let key = "EC0234A357C8AD05341010A60A397D9B"

    private func read(_ text: String) throws(PhoneKeysError) -> PhoneKeys { try PhoneKeys(parsing: Array(text.utf8)) }

    @Test("a line for each phone, the key before the name; comments and empty lines are passed over")
    func reading() throws {
        let keys = try read("# made by hand\n\n\(Self.key) Jane\r\n7AI0o1fIrQU0EBCmCjl9nA== Jane's watch\n")
        #expect(keys.phones.map(\.name) == ["Jane", "Jane's watch"])
        #expect(keys.phones.map(\.key.digits) == [Self.key, "EC0234A357C8AD05341010A60A397D9C"])
    }

    @Test("what is written reads as the same")
    func writing() throws {
        let keys = try read("\(Self.key) Jane\n7AI0o1fIrQU0EBCmCjl9nA== Jane's watch\n")
        #expect(try PhoneKeys(parsing: keys.bytes) == keys)
    }

    @Test("a phone that comes again has another key, and no name twice")
    func replacing() throws {
        var keys = try read("\(Self.key) Jane")
        let other = try #require(IdentityKey("7AI0o1fIrQU0EBCmCjl9nA=="))
        try keys.set(other, of: "Jane")
        #expect(keys.phones.map(\.key) == [other])
        #expect(throws: PhoneKeysError.sameKey(as: "Jane")) { try keys.set(other.reversed, of: "John") }
        let removals = [keys.remove("Jane"), keys.remove("Jane")]
        #expect(removals == [true, false])
        #expect(keys.bytes.isEmpty)
    }

    @Test(
        "a mistake is named by its line, and the line is not shown",
        arguments: [
            ("\(key) Jane\nec0234 John", "line 2: this is no key"), ("\(key)", "line 1: a name has"),
            ("\(key) a:b", "line 1: a name has"), ("\(key) \u{1b}[2J", "line 1: a name has"),
            ("\(key) a\n\(key) b", "line 2: 'a' has this key"),
        ])
    func faults(_ text: String, _ message: String) {
        do {
            _ = try read(text)
            Issue.record("it was read")
        } catch {
            #expect(error.description.hasPrefix(message), "\(error)")
            #expect(!error.description.contains("234"))
        }
    }

    @Test("there are bounds")
    func bounds() throws {
        var keys = PhoneKeys()
        for number in 1...UInt64(IdentityResolver.mostKeys) {
            try keys.set(IdentityKey(high: number, low: 1 << 63), of: "phone \(number)")
        }
        #expect(throws: PhoneKeysError.tooMany) { try keys.set(IdentityKey(high: 0, low: 5), of: "one more") }
        #expect(throws: PhoneKeysError.invalidName) {
            try keys.set(IdentityKey(high: 0, low: 5), of: String(repeating: "a", count: 201))
        }
    }
}
