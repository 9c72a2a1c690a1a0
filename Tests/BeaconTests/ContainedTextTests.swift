import Base
import Testing

/// The search for a text within another.
@Suite struct ContainedTextTests {
    @Test(
        "A part is found where it begins first",
        arguments: [
            ("mqtt://host", "://", 4), ("://", "://", 0), ("a::://b", "://", 3), ("aab", "ab", 1), ("text", "", 0),
            ("", "", 0),
        ])
    func found(text: String, part: String, offset: Int) {
        let bytes = Array(text.utf8)
        #expect(bytes.firstIndex(ofPart: part.utf8) == offset)
        #expect(text.hasPart(part))
    }

    @Test(
        "What does not occur, or only begins at the end, is not found",
        arguments: [("", "a"), ("mqtt:/", "://"), ("abc", "abcd"), ("expire", "expired"), ("Expired", "expired")])
    func missing(text: String, part: String) {
        #expect(text.firstIndex(ofPart: part) == nil)
        #expect(!text.hasPart(part))
    }
}
