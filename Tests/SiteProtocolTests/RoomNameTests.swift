import SiteProtocol
import Testing

@Suite struct RoomNameTests {
    @Test(arguments: [
        ("Kitchen", "Kitchen"), ("  Living room\u{a0}", "Living room"), ("_", "_"), ("…", "…"),
        ("\u{200e}Living room\u{200b}\u{feff}", "Living room"),
        ("\u{1f3f4}\u{e0067}\u{e007f}", "\u{1f3f4}\u{e0067}\u{e007f}"),
    ])
    func `A name is trimmed`(text: String, name: String) {
        #expect(RoomName(text)?.name == name)
        #expect(RoomName(id: "r", name: text)?.name == name)
    }

    @Test(arguments: [
        "", " ", "\u{a0}\u{2003}", "\u{200b}\u{feff} \u{2060}", "a\nb", "\u{7f}", String(repeating: "x", count: 129),
    ])
    func `A blank text, one that is too long and one with control characters is no name`(text: String) {
        #expect(RoomName(text) == nil && RoomName(id: "r", name: text) == nil)
    }

    @Test func `An id is a topic level`() { #expect(RoomName(id: "a/b", name: "A") == nil) }

    @Test(arguments: [
        ("office_room", "Office Room", true), ("office-room", "OFFICE  room.", true),
        ("Caf\u{e9}", "Cafe\u{301}", true),
        ("Bad / WC", "bad,wc", true), ("jane_s_room", "Jane's room", true), ("bath_upstairs", "Bath (upstairs)", true),
        ("kitchen_dining", "Kitchen & Dining", true), ("Office\u{a0}Room", "Office Room", true),
        ("Office Room", "Off\u{200b}ice Room", true), ("Room 1", "Room 2", false), ("Janes room", "Jane's room", false),
        ("_", "-", false), ("office room", "officeroom", false), ("Bad", "Bäd", false),
        ("浴室", "寝室", false),
    ])
    func `Forms of one name differ in case, in what separates words, or in their encoding`(
        left: String, right: String, isSame: Bool
    ) throws {
        let (left, right) = (try #require(RoomName(left)), try #require(RoomName(right)))
        #expect(left.isSame(as: right) == isSame && (left.key == right.key) == isSame)
    }

    @Test(arguments: [#"{"v":1,"room":" "}"#, #"{"v":1,"room":"\u00a0"}"#, #"{"v":1,"room":7}"#])
    func `A card whose room is no name is refused`(card: String) {
        #expect(throws: FeedError.self) { try FeedDecoder.card(Array(card.utf8)) }
    }

    @Test(arguments: [
        #"{"room":" ","tag":"jane","seconds":1}"#, #"{"room":"","forget":true}"#, #"{"room":"Hall","rename":"  "}"#,
        #"{"gateway":"","moved":true}"#, #"{"gateway":"h"}"#,
    ])
    func `A request with a blank name is refused`(request: String) {
        #expect(throws: FeedError.self) { try FeedDecoder.learn(Array(request.utf8)) }
    }
}
