import AddressKeys
import Beacon
import TestSupport
import Testing

@testable import Identities

@Suite("A key resolves the addresses that were made with it")
struct IdentityKeyTests {
    /// A key with an address that it resolves.
    struct Vector: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// Most significant octet first.
        let key: String
        let address: UInt64
    }

    static let published = [
        Vector(
            testDescription: "Core Specification 5.4, Vol 3, Part H, D.7",
            key: "ec0234a357c8ad05341010a60a397d9b", address: 0x7081_940d_fbaa),
        Vector(
            testDescription: "an address of the kernel's own making",
            key: "0f0e0d0c0b0a09080706050403020100", address: 0x6144_1288_d423),
    ]

    private func resolves(_ key: IdentityKey, _ address: UInt64, isReversed: Bool = false) throws -> Bool {
        let ciphers = try #require(KeyCiphers([key]))
        let address = try #require(ResolvableAddress(DeviceAddress(value: address, isRandom: true)))
        return ciphers.hash(of: address.random, key: 0, isReversed: isReversed) == address.hash
    }

    @Test("the published vectors", arguments: published)
    func vectors(_ this: Vector) throws {
        let key = try #require(IdentityKey(this.key))
        #expect(try resolves(key, this.address))
        #expect(try !resolves(key, this.address ^ 1))
        #expect(try !resolves(key, this.address, isReversed: true))
        #expect(try resolves(key.reversed, this.address, isReversed: true))
    }

    @Test(
        "a key is read in the forms in which people hold it",
        arguments: [
            "ec0234a357c8ad05341010a60a397d9b", "EC0234A357C8AD05341010A60A397D9B",
            "ec:02:34:a3:57:c8:ad:05:34:10:10:a6:0a:39:7d:9b", "ec0234a3-57c8-ad05-3410-10a60a397d9b",
            "irk:ec0234a357c8ad05341010a60a397d9b", " 7AI0o1fIrQU0EBCmCjl9mw== ", "7AI0o1fIrQU0EBCmCjl9mw",
            "irk:7AI0o1fIrQU0EBCmCjl9mw==", "ec 02 34 a3 57 c8 ad 05 34 10 10 a6 0a 39 7d 9b",
            "EC,02,34,A3,57,C8,AD,05,34,10,10,A6,0A,39,7D,9B", "hex:ec,02,34,a3,57,c8,ad,05,34,10,10,a6,0a,39,7d,9b",
            "hex:ec,02,34,a3,57,c8,ad,05,34,10,10,a6,\\\r\n  0a,39,7d,9b", "0xEC0234A357C8AD05341010A60A397D9B",
            "0xec, 0x02, 0x34, 0xa3, 0x57, 0xc8, 0xad, 0x05, 0x34, 0x10, 0x10, 0xa6, 0x0a, 0x39, 0x7d, 0x9b",
            "Key=EC0234A357C8AD05341010A60A397D9B\n", "IRK=ec0234a357c8ad05341010a60a397d9b",
            "\"ec0234a357c8ad05341010a60a397d9b\"",
            "<data>7AI0o1fIrQU0EBCmCjl9mw==</data>", "<data>\n\t7AI0o1fIrQU0EBCmCjl9mw==\n</data>",
            "<ec0234a3 57c8ad05 341010a6 0a397d9b>", "Key=\"7AI0o1fIrQU0EBCmCjl9mw\";",
            // As Windows exports it, as C, Python, Swift and JavaScript print it, and as a program for text writes it.
            "\"IRK\"=hex:ec,02,34,a3,57,c8,ad,05,34,10,10,a6,0a,39,7d,9b",
            "{0xec, 0x2, 0x34, 0xa3, 0x57, 0xc8, 0xad, 0x5, 0x34, 0x10, 0x10, 0xa6, 0xa, 0x39, 0x7d, 0x9b};",
            "ec:2:34:a3:57:c8:ad:5:34:10:10:a6:a:39:7d:9b",
            "b'\\xec\\x02\\x34\\xa3\\x57\\xc8\\xad\\x05\\x34\\x10\\x10\\xa6\\x0a\\x39\\x7d\\x9b'",
            "[236, 2, 52, 163, 87, 200, 173, 5, 52, 16, 16, 166, 10, 57, 125, 155]",
            "Remote IRK: ec0234a357c8ad05341010a60a397d9b", "\"irk\": \"7AI0o1fIrQU0EBCmCjl9mw==\",",
            "\u{feff}ec0234a357c8ad05341010a60a397d9b", "\u{201c}ec0234a357c8ad05341010a60a397d9b\u{201d}",
            "ec0234a3\u{a0}57c8ad05\u{202f}341010a6\u{200b}0a397d9b",
        ])
    func forms(_ text: String) throws {
        let key = try #require(IdentityKey(text))
        #expect(key == IdentityKey(high: 0xec02_34a3_57c8_ad05, low: 0x3410_10a6_0a39_7d9b))
    }

    @Test(
        "other text is no key",
        arguments: [
            "", "irk:", "ec0234a357c8ad05341010a60a397d9", "ec0234a357c8ad05341010a60a397d9b0",
            "gc0234a357c8ad05341010a60a397d9b", "7AI0o1fIrQU0EBCmCjl9mx==", "7AI0o1fIrQU0EBCmCjl9mw=",
            "7AI0o1fIrQU0EBCmCjl9mw===", "7AI0o1fIrQU0EBCmCjl9m*==", "00000000000000000000000000000000",
            "AAAAAAAAAAAAAAAAAAAAAA==", "ключ", "[256, 2, 52, 163, 87, 200, 173, 5, 52, 16, 16, 166, 10, 57, 125, 155]",
            "abc: ec0234a357c8ad05341010a60a397d9b",
            "[23g, 2, 52, 163, 87, 200, 173, 5, 52, 16, 16, 166, 10, 57, 125, 155]",
        ])
    func faults(_ text: String) { #expect(IdentityKey(text) == nil) }

    @Test(
        "what is no key is told by what it has, and nothing of it is shown",
        arguments: [
            ("", "it is empty"), (" irk: ", "it is empty"), ("ec0234a3", "it has 8 hexadecimal digits"),
            ("ec 02 34 a3 57 c8 ad 05 34 10 10 a6 0a 39 7d 9b 00", "it has 34 hexadecimal digits"),
            ("gc0234a357c8ad05341010a60a397d9b", "it has 32 characters, and some of them are no hexadecimal digits"),
            ("hex:00,00,00,00,00,00,00,00,00,00,00,00,00,00,00,00", "it is all zeros"),
            (String(repeating: "a", count: 257), "it is longer than 256 characters"),
        ])
    func words(_ text: String, _ fault: String) {
        let error = #expect(throws: PhoneKeysError.self) { try PhoneKeysError.key(text) }
        let told = error?.description ?? ""
        #expect(told.hasPrefix("this is no key: \(fault)"), "\(told)")
        #expect(told.hasSuffix("; a key has 32 hexadecimal digits, or 24 characters of base64"))
        #expect(!told.contains("c0234"), "\(told)")
    }

    private static let registry = """
        Windows Registry Editor Version 5.00\r
        \r
        [HKEY_LOCAL_MACHINE\\SYSTEM\\ControlSet001\\Services\\BTHPORT\\Parameters\\Keys\\001122334455\\66778899aabb]\r
        "LTK"=hex:00,11,22,33,44,55,66,77,88,99,aa,bb,cc,dd,ee,ff\r
        "IRK"=hex:ec,02,34,a3,57,c8,ad,05,34,10,10,a6,\\\r
          0a,39,7d,9b\r
        "CSRK"=hex:00,11,22,33,44,55,66,77,88,99,aa,bb,cc,dd,ee,01\r
        """
    private static let keychain = """
        <dict>
            <key>Local Encryption</key>
            <data>ABEiM0RVZneImaq7zN3u/w==</data>
            <key>Remote IRK</key>
            <data>
            7AI0o1fIrQU0EBCmCjl9mw==
            </data>
        </dict>
        """

    private static func utf16(_ text: String, isLittle: Bool) -> [UInt8] {
        var bytes: [UInt8] = isLittle ? [0xff, 0xfe] : [0xfe, 0xff]
        for unit in text.utf16 {
            let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xff))
            bytes += isLittle ? [low, high] : [high, low]
        }
        return bytes
    }

    private static let exportedFiles: [[UInt8]] = [
        Array(registry.utf8), utf16(registry, isLittle: true), utf16(registry, isLittle: false), Array(keychain.utf8),
        Array(#"{"name":"Birkenau","irk":"ec0234a357c8ad05341010a60a397d9b","ltk":"00"}"#.utf8),
    ]

    @Test("the key of an export of Windows or of a Mac is the one that it calls IRK", arguments: exportedFiles)
    func exports(_ file: [UInt8]) {
        #expect(KeyText.named(in: file) == [IdentityKey(high: 0xec02_34a3_57c8_ad05, low: 0x3410_10a6_0a39_7d9b)])
    }

    @Test("of two devices there are two keys, and of no device none")
    func severalExports() {
        let other = Self.registry.replacing("ec,02", with: "ed,02")
        #expect(KeyText.named(in: Array((Self.registry + "\n" + other).utf8)).count == 2)
        #expect(KeyText.named(in: Array("IRK\nirk irk=\"IRK".utf8)) == [])
        #expect(KeyText.named(in: []) == [] && KeyText.named(in: [0xff, 0xfe, 0x49]) == [])
    }

    @Test("any bytes are a key or a fault, and a key reads the same from its digits")
    func random() {
        var generator = SplitMix64(seed: 55)
        let parts = [
            "irk:", "hex:", "0x", "<data>", "</data>", "5a", "01", ",", " ", "==", "\\", "\n", "\"",
            "7AI0o1fIrQU0EBCmCjl9mw", "irk", "=", "\\x5", "[", "}", "\u{a0}", "\u{feff}", "236", "<key>IRK</key>",
        ]
        for _ in 0..<2_000 {
            let text = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                parts.randomElement(using: &generator) ?? ""
            }.joined()
            for key in KeyText.named(in: Array(text.utf8)) { #expect(IdentityKey(key.digits) == key) }
            guard case .key(let key) = KeyText.read(text.utf8) else { continue }
            #expect(IdentityKey(key.digits) == key)
        }
    }

    @Test("no text that is made of a key contains it")
    func secret() throws {
        let key = try #require(IdentityKey(Self.published[0].key))
        var dumped = ""
        dump([key], to: &dumped)
        for text in ["\(key)", String(reflecting: key), "\([key])", "\(Optional(key) as Any)", dumped] {
            #expect(!text.lowercased().contains("ec0234a3"), "\(text)")
            #expect(!text.contains("\(key.high)"), "\(text)")
        }
    }

    @Test("the UUID of a key is that of its octets, the most significant one first")
    func derived() throws {
        let key = try #require(IdentityKey(Self.published[0].key))
        // uuid.uuid5(uuid.UUID("0b87d8b3-eed6-4bff-9daa-54326bacec6a"), "irk:EC0234A357C8AD05341010A60A397D9B")
        #expect("\(key.uuid)" == "BF76C877-E0BE-5D31-9AE5-547EBF800856")
        // The same of "irk:9B7D390AA610103405ADC857A33402EC".
        #expect("\(key.reversed.uuid)" == "54AD76DD-32E9-5CA9-9AE2-97BAEDB0759B")
    }

    @Test("a key that was given in the other order has the canonical UUID once the order is known")
    func ordered() throws {
        let key = try #require(IdentityKey(Self.published[0].key))
        let given = PhoneKey(key.reversed)
        #expect(given.otherUUID == key.uuid)
        #expect(given.ordered(isReversed: true) == PhoneKey(key, isOrdered: true))
        #expect(given.key.unordered == key.unordered)
    }

    @Test("only random addresses that begin with 01 are resolvable")
    func kinds() {
        for top in UInt64(0)...3 {
            let value = top << 46 | 0x0123_4567_89ab
            #expect((ResolvableAddress(DeviceAddress(value: value, isRandom: true)) != nil) == (top == 1))
            #expect(ResolvableAddress(DeviceAddress(value: value, isRandom: false)) == nil)
        }
    }

    @Test("1,000,000 random addresses fit a key no more often than chance says")
    func chance() throws {
        let keys = (0..<2).map { _ in
            IdentityKey(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
        }
        let ciphers = try #require(KeyCiphers(keys))
        var matches = 0
        for _ in 0..<1_000_000 {
            let (random, hash) = (UInt32.random(in: 0x40_0000...0x7f_ffff), UInt32.random(in: 0...0xff_ffff))
            for key in keys.indices where ciphers.hash(of: random, key: key, isReversed: false) == hash { matches += 1 }
        }
        // 2,000,000 / 2^24 = 0.12 are expected. Six or more come once in 200 million runs.
        #expect(matches < 6)
    }
}
