import TestSupport
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
        #expect(keys.phones.map(\.key.key.digits) == [Self.key, "EC0234A357C8AD05341010A60A397D9C"])
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
        try keys.set(PhoneKey(other), of: "Jane")
        #expect(keys.phones.map(\.key.key) == [other])
        #expect(throws: PhoneKeysError.sameKey(as: "Jane")) { try keys.set(PhoneKey(other.reversed), of: "John") }
        let removals = [keys.remove("Jane"), keys.remove("Jane")]
        #expect(removals == [true, false])
        #expect(keys.bytes.isEmpty)
    }

    @Test("what is known of a key stands behind it: the order of its octets, and the time of the change")
    func known() throws {
        let text = "\(Self.key),msb,1700000000 Jane\nremoved,1700000001 John\n"
        let keys = try read(text)
        #expect(keys.phones.map(\.key.isOrdered) == [true])
        #expect(keys.phones.map(\.changed) == [1_700_000_000])
        #expect(keys.removals.map(\.name) == ["John"])
        #expect(String(decoding: keys.bytes, as: UTF8.self) == text)
        #expect(String(decoding: keys.exported, as: UTF8.self) == "\(Self.key),msb,1700000000 Jane\n")
    }

    @Test("a list that is too long is refused before it is read")
    func lengths() throws {
        let removals = (1...100_000).map { "removed,\($0) R\($0)\n" }
        let full = removals.prefix(PhoneKeys.mostLines).joined()
        #expect(try read(full).removals.count == PhoneKeys.mostRemovals)
        #expect(throws: PhoneKeysError.tooManyLines) { try read(full + "removed,1 X") }
        #expect(throws: PhoneKeysError.tooLong(bytes: removals.joined().utf8.count)) { try read(removals.joined()) }
        let phones = (1...20_000).map { "\(String(repeating: "0", count: 32 - "\($0)".count))\($0) P\($0)\n" }.joined()
        #expect(throws: PhoneKeysError.inLine(IdentityResolver.mostKeys + 1, "\(PhoneKeysError.tooMany)")) {
            try PhoneKeys(parsing: Array(phones.utf8.prefix(PhoneKeys.mostBytes)))
        }
        #expect(try read(String(repeating: "\n", count: PhoneKeys.mostBytes)).isEmpty)
        let newlines = [UInt8](repeating: 10, count: 63 << 20)
        #expect(throws: PhoneKeysError.tooLong(bytes: newlines.count)) { try PhoneKeys(parsing: newlines) }
        // What the program writes at most is a tenth of it.
        var list = PhoneKeys()
        for number in 1...IdentityResolver.mostKeys {
            let name = String(repeating: "x", count: PhoneKeys.longestName - 4) + "\(number)"
            try list.set(PhoneKey(IdentityKey(high: 1, low: UInt64(number))), of: name, at: 253_402_300_799)
        }
        #expect(2 * list.bytes.count < PhoneKeys.mostBytes / 4)
        #expect(try PhoneKeys(parsing: list.bytes) == list)
    }

    @Test(
        "a mistake is named by its line, and the line is not shown",
        arguments: [
            ("\(key) Jane\nec0234 John", "line 2: this is no key"), ("\(key)", "line 1: a name has"),
            ("\(key) a:b", "line 1: a name has"), ("\(key) \u{1b}[2J", "line 1: a name has"),
            ("\(key) a\n\(key) b", "line 2: 'a' has this key"), ("\(key),lsb a", "line 1: this is no key"),
            ("\(key),-1 a", "line 1: this is no key"), ("removed John", "line 1: this is no key"),
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
            try keys.set(PhoneKey(IdentityKey(high: number, low: 1 << 63)), of: "phone \(number)")
        }
        #expect(throws: PhoneKeysError.tooMany) { try keys.set(PhoneKey(IdentityKey(high: 0, low: 5)), of: "one more") }
        #expect(throws: PhoneKeysError.invalidName) {
            try keys.set(PhoneKey(IdentityKey(high: 0, low: 5)), of: String(repeating: "a", count: 201))
        }
    }
}

@Suite("The lists of several gateways")
struct PhoneListTests {
    private static let first = IdentityKey(high: 1, low: 1 << 63)
    private static let second = IdentityKey(high: 2, low: 1 << 63)

    private func list(_ change: (inout PhoneKeys) throws -> Void) rethrows -> PhoneKeys {
        var list = PhoneKeys()
        try change(&list)
        return list
    }

    private func merged(_ lists: PhoneKeys...) -> PhoneKeys {
        lists.reduce(into: PhoneKeys()) { $0.merge($1) }.sorted
    }

    @Test("the later key of a name holds, whoever is heard first")
    func later() throws {
        let old = try list { try $0.set(PhoneKey(Self.first), of: "Jane", at: 100) }
        let new = try list { try $0.set(PhoneKey(Self.second), of: "Jane", at: 200) }
        #expect(merged(old, new) == merged(new, old))
        #expect(merged(old, new).phones.map(\.key.key) == [Self.second])
    }

    @Test("a removal holds against every earlier list, and against a key of the same second")
    func removal() throws {
        let had = try list { try $0.set(PhoneKey(Self.first), of: "Jane", at: 100) }
        for time in [Int64(100), 50, 200] {
            var without = had
            let isRemoved = without.remove("Jane", at: time)
            #expect(isRemoved)
            #expect(merged(had, without) == merged(without, had))
            #expect(merged(had, without, had).phones.isEmpty)
        }
    }

    @Test("a change of the future is older than every other, and holds where there is no other")
    func future() throws {
        let now: Int64 = 1_800_000_000
        let year9999: Int64 = 253_402_300_799
        for isRemoval in [true, false] {
            var strange = try list { try $0.set(PhoneKey(Self.second), of: "Jane", at: year9999) }
            if isRemoval { _ = strange.remove("Jane", at: year9999) }
            strange.distrustFuture(at: now)
            var own = merged(strange)
            #expect(own.phones.isEmpty == isRemoval)
            try own.set(PhoneKey(Self.first), of: "Jane", at: now)
            #expect(merged(own, strange).phones.map(\.key.key) == [Self.first])
            #expect(merged(strange, own) == merged(own, strange))
            let isRemoved = own.remove("Jane", at: now + 10)
            #expect(isRemoved && merged(own, strange).phones.isEmpty)
        }
        // A clock that is a little fast is believed.
        var fast = try list { try $0.set(PhoneKey(Self.second), of: "Jane", at: now + 3600) }
        fast.distrustFuture(at: now)
        #expect(fast.phones.map(\.changed) == [now + 3600])
    }

    @Test("a change holds against a time of the future in the own file, too")
    func futureInFile() throws {
        for line in ["removed,253402300799 Jane\n", "EC0234A357C8AD05341010A60A397D9B,253402300799 Jane\n"] {
            var keys = try PhoneKeys(parsing: Array(line.utf8))
            try keys.set(PhoneKey(Self.first), of: "Jane", at: 1_800_000_000)
            #expect(keys.phones.map(\.changed) == [1_800_000_000])
        }
    }

    @Test("a phone that was removed comes back when it is added again, although the clock is behind")
    func again() throws {
        var keys = try list { try $0.set(PhoneKey(Self.first), of: "Jane", at: 1000) }
        let had = keys
        let isRemoved = keys.remove("Jane", at: 2000)
        #expect(isRemoved)
        let without = keys
        try keys.set(PhoneKey(Self.first), of: "Jane", at: 5)
        #expect(merged(had, without, keys).phones.map(\.name) == ["Jane"])
        #expect(merged(keys, without, had).phones.map(\.name) == ["Jane"])
    }

    @Test("who knows the order of a key tells the others, and that is no change")
    func order() throws {
        let given = try list { try $0.set(PhoneKey(Self.first.reversed), of: "Jane", at: 100) }
        var learned = given
        learned.note(PhoneKey(Self.first, isOrdered: true))
        #expect(merged(given, learned) == merged(learned, given))
        #expect(merged(given, learned).phones.map(\.key) == [PhoneKey(Self.first, isOrdered: true)])
        #expect(merged(given, learned).phones.map(\.changed) == [100])
    }

    @Test("one key under two names: the later name holds at every gateway")
    func names() throws {
        let first = try list { try $0.set(PhoneKey(Self.first), of: "Jane", at: 100) }
        let second = try list { try $0.set(PhoneKey(Self.first.reversed), of: "Jane's phone", at: 200) }
        #expect(merged(first, second) == merged(second, first))
        #expect(merged(first, second, first, second).phones.map(\.name) == ["Jane's phone"])
    }

    @Test("a line that a person wrote after a removal is newer than it")
    func byHand() throws {
        var keys = try PhoneKeys(parsing: Array("\(Self.first.digits) Jane\nremoved,100 Jane\n".utf8))
        #expect(keys.phones.map(\.name) == ["Jane"])
        keys.stamp(at: 300)
        var other = PhoneKeys()
        other.merge(try PhoneKeys(parsing: Array("removed,100 Jane\n".utf8)))
        other.merge(keys)
        #expect(other.phones.map(\.name) == ["Jane"])
    }

    @Test("random changes at five gateways end in one list everywhere, in whichever order the lists arrive")
    func convergence() throws {
        var random = SplitMix64(seed: 3)
        for _ in 0..<200 {
            var lists = [PhoneKeys](repeating: PhoneKeys(), count: 5)
            for time in Int64(1)...30 {
                let index = Int.random(in: 0..<5, using: &random)
                let name = ["Jane", "John", "Ann"].randomElement(using: &random) ?? ""
                let key = IdentityKey(high: .random(in: 1...3, using: &random), low: 1 << 63)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: _ = lists[index].remove(name, at: time / 3)
                case 1: lists[index].merge(lists[Int.random(in: 0..<5, using: &random)])
                default: try? lists[index].set(PhoneKey(key), of: name, at: time / 3)
                }
            }
            for _ in 0..<4 {
                for index in lists.indices.shuffled(using: &random) {
                    for other in lists.indices.shuffled(using: &random) { lists[index].merge(lists[other]) }
                }
            }
            #expect(Set(lists.map(\.sorted)).count == 1)
        }
    }
}
