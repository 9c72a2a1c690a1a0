import Base
import OwnTracks
import Testing

@testable import Encryption

/// The bytes on the wire are those of every other OwnTracks program. Vectors: (1) a message made by the
/// C library in owntracks/owntracks issue 32; the others were made with PyNaCl and nonce 00…17.
@Suite struct PayloadCipherTests {
    static let nonce = (0..<24).map { UInt8($0) }
    static let transition = """
        {"_type":"transition","acc":1,"desc":"Kitchen","event":"enter","lat":0,"lon":0,"t":"b","tid":"gw",\
        "tst":1700000000,"wtst":1600000000}
        """
    static let vectors: [(key: String, plaintext: String, data: String)] = [
        (
            "s3cr1t", transition,
            """
            AAECAwQFBgcICQoLDA0ODxAREhMUFRYXffdkgwnUsmUy0A+x8k0MVQh9SpLYIJtEk6tDpIBcn6uJrQziHZbibpBPwMTybLb5bnvq5sq5\
            cfyerYM7kUYaO2g5elht1UQEqYfueOTApHaVE73S7klHUyaLd2A8xykDo+Im8IjMeGBVyOpjLmLsI51OZtOOmP9IwSy1g4lrZ7mOycq7\
            zc7gA6bQ5EXKZgx6U/Z8Mw4=
            """
        ),
        ("schlüssel", "hello", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXjWmeVRGSNpH+f8XhF0TlKani2Uk+"),
        // A key of exactly 32 bytes, as Home Assistant makes it, and nothing to say.
        ("0123456789abcdef0123456789abcdef", "", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXeQLpLgKUaQoj9w0tIounDw=="),
        // 16 characters of two bytes each.
        ("éééééééééééééééé", "Küche ✓", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXqhx32YBNIUlANt1LkdhAukcWCephJOhfb+s="),
        (
            "k", #"[{"_type":"cmd","action":"dump"},{"_type":"cmd","action":"status"}]"#,
            """
            AAECAwQFBgcICQoLDA0ODxAREhMUFRYXYEHqC6PFaxLTMt3mZBHfpY0bbEHEBRpWb9m8rr3ftFFfRAWEtzfl0Hxu9h30sqfTHEEjmGPgQ9FP\
            KlQE/0I88WAUQ9UZjaKZYd+94NI1NW9CYJE=
            """
        ),
    ]

    @Test(arguments: vectors)
    func `The bytes are those of the reference, both ways`(vector: (key: String, plaintext: String, data: String))
        throws
    {
        let cipher = try #require(PayloadCipher(key: Secret(vector.key)))
        #expect(cipher.encrypt(Array(vector.plaintext.utf8), nonce: Self.nonce).data == vector.data)
        #expect(try cipher.decrypt(EncryptedMessage(data: vector.data)) == Array(vector.plaintext.utf8))
    }

    @Test func `A NUL behind the text, as C programs send it, is cut off`() throws {
        let cipher = try #require(PayloadCipher(key: Secret("s3cr1t")))
        let data = "vG0sAik3/+1KwrZ4b27yQtfJEVz6g2v0Os+yGIECNm8PnxwTR7ZUlUYRclgku7eP19FeNjJugxhYnF9pvlxDBzUxYg=="
        #expect(try cipher.decrypt(EncryptedMessage(data: data)) == Array("Hello from C, how are you?".utf8))
    }

    @Test func `A NUL behind a command is cut off, and the command is read`() throws {
        let cipher = try #require(PayloadCipher(key: Secret("k")))
        let data = """
            AAECAwQFBgcICQoLDA0ODxAREhMUFRYXD1x7W4k2SFE22wMGzvtuA61CEWrJDA8Rd8H9oLSZul8cRhKZsTapyGQo5wXp4Piu
            """
        let plaintext = try cipher.decrypt(EncryptedMessage(data: data))
        #expect(Command.all(in: plaintext) == [.success(.dump)])
    }

    @Test func `Every message has a nonce of its own`() throws {
        let cipher = try #require(PayloadCipher(key: Secret("k")))
        #expect(cipher.encrypt([1, 2, 3]) != cipher.encrypt([1, 2, 3]))
    }

    @Test(arguments: [0, 1, 31, 32])
    func `Keys of up to 32 bytes go there and back`(length: Int) throws {
        let key = Secret(String(repeating: "x", count: length))
        guard length > 0 else { return #expect(PayloadCipher(key: key) == nil) }
        let cipher = try #require(PayloadCipher(key: key))
        #expect(try cipher.decrypt(cipher.encrypt([])) == [])
        #expect(try cipher.decrypt(cipher.encrypt(Array("text".utf8))) == Array("text".utf8))
    }

    @Test func `A key of more than 32 bytes is none: every program would cut it elsewhere`() {
        #expect(PayloadCipher(key: Secret(String(repeating: "x", count: 33))) == nil)
    }

    static let refused: [(data: String, reason: DecryptionError)] = [
        ("", .tooShort(bytes: 0)), ("YWJjZGUK", .tooShort(bytes: 6)), ("not base64!", .notBase64),
        ("YWJj\nZGUK", .notBase64),
        ("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXjWmeVRGSNpH+f8XhF0TlKani2Uk/", .notAuthentic),
    ]

    @Test(arguments: refused)
    func `What is no message for this key is refused with its reason`(row: (data: String, reason: DecryptionError))
        throws
    {
        let cipher = try #require(PayloadCipher(key: Secret("schlüssel")))
        #expect(throws: row.reason) { try cipher.decrypt(EncryptedMessage(data: row.data)) }
    }

    @Test func `Another key opens nothing`() throws {
        let cipher = try #require(PayloadCipher(key: Secret("one")))
        let other = try #require(PayloadCipher(key: Secret("two")))
        #expect(throws: DecryptionError.notAuthentic) { try other.decrypt(cipher.encrypt([1])) }
    }

    @Test func `The key shows itself nowhere`() throws {
        let cipher = try #require(PayloadCipher(key: Secret("s3cr1t")))
        #expect(!"\(cipher)".contains("s3cr1t"))
    }
}
