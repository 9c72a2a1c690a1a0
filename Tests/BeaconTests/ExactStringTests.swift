import Base
import Testing

/// Identifiers are compared by bytes, as MQTT and SQLite compare them.
@Suite struct ExactStringTests {
    private static let composed = "caf\u{E9}"
    private static let decomposed = "cafe\u{301}"

    @Test(arguments: [(composed, decomposed), ("K1", "\u{212A}1"), ("a\u{301}\u{323}", "a\u{323}\u{301}")])
    func `Texts that look the same and have other bytes are two keys`(first: String, second: String) {
        #expect(first == second, "Swift calls them equal")
        #expect(ExactString(first) != ExactString(second))
        #expect(!first.hasSameBytes(as: second))
        #expect(ExactString(first) < ExactString(second) || ExactString(second) < ExactString(first))
        let numbers: [ExactString: Int] = [ExactString(first): 1, ExactString(second): 2]
        #expect(numbers[first] == 1)
        #expect(numbers[second] == 2)
        #expect(Set([ExactString(first), ExactString(second)]).count == 2)
    }

    @Test(arguments: [
        ("", "a"), ("a", "ab"), ("ab", "b"), ("z", "\u{E9}"), ("kitchen/kitchen/kitchen", "kitchen/kitchen/kitchen/2"),
    ])
    func `The order is that of the bytes, and a text comes before those that begin with it`(
        first: String, second: String
    ) {
        #expect(ExactString(first) < ExactString(second))
        #expect(!(ExactString(second) < ExactString(first)))
        #expect(!(ExactString(first) < ExactString(first)))
    }

    @Test func `The same bytes are one key, whatever holds them`() {
        let long = String(repeating: "kitchen ", count: 10)
        let part = String(("x" + long).dropFirst())
        #expect(ExactString(long) == ExactString(part))
        #expect(ExactString(long).hashValue == ExactString(part).hashValue)
    }
}
