import JSON
import Testing

@Suite struct JSONTests {
    @Test(
        "A text is read into the kind of value it is",
        arguments: [
            ("null", JSONValue.null), ("true", true), ("1", 1), ("-0", 0), ("10.0", 10), ("1e3", 1000),
            ("0.5", .number(0.5)), ("9223372036854775807", .integer(.max)),
            ("9223372036854775808", .number(9_223_372_036_854_775_808)), (#""a\u00e9\/""#, "aé/"), ("[]", []),
            (#"{"a":[1,"b",null]}"#, ["a": [1, "b", .null]]), ("\u{feff}{}", [:]), ("{}\0\0", [:]),
            (#"{"a":1,"a":2}"#, ["a": 2]), (#""\ud83d\ude00\u00e9\b\f\n\r\t\\\"""#, "😀é\u{8}\u{c}\n\r\t\\\""),
            ("-1.5E-3", .number(-0.0015)),
        ] as [(String, JSONValue)])
    func kinds(text: String, value: JSONValue) throws {
        #expect(try JSONValue(parsing: text) == value)
    }

    @Test(
        "A member that stands twice is found with its path and both lines, and the last one is read",
        arguments: [
            ("{a: 1, b: 2}", []), ("{a: 1, a: 2}", ["a 1 1"]),
            ("{a: 1,\n b: 2,\n 'a': 3,\n \"a\": 4}", ["a 1 3", "a 3 4"]),
            ("{a: {b: 1},\n c: {b: 1}}", []), ("{a: {b: 1,\n b: 2}}", ["a.b 1 2"]),
            ("\u{feff}{t: [{x: 1}, {x: 1,\n y: [[], {z: 1, z: 2}],\n x: 1}]}", ["t[1].y[1].z 2 2", "t[1].x 1 3"]),
            ("{a: {b: 1},\n a: {b: 2}}", ["a 1 2"]), ("[1, 1]", []), ("{\"\\u0061\": 1, a: 2}", ["a 1 1"]),
        ] as [(String, [String])])
    func repeatedMembers(text: String, found: [String]) throws {
        let repeated = try JSONValue.repeatedMembers(in: text.utf8, dialect: .json5)
        #expect(repeated.map { "\($0.path) \($0.firstLine) \($0.line)" } == found)
    }

    @Test func `A text with thousands of repetitions lists a hundred, and one that cannot be read is refused`() throws {
        let text = "{" + String(repeating: "a:1,", count: 5000) + "}"
        #expect(try JSONValue.repeatedMembers(in: text.utf8, dialect: .json5).count == 100)
        #expect(throws: JSONError.self) { try JSONValue.repeatedMembers(in: "{a: 1, a: }".utf8, dialect: .json5) }
    }

    @Test(
        "JSON5 is read where a person writes",
        arguments: [
            ("{a: 1, /* why */ 'b': \"c\", // end\n}", JSONValue.object(["a": 1, "b": "c"])), ("[1,2,]", [1, 2]),
            ("0xFF", 255), ("+5", 5), (".5", .number(0.5)), ("'it\\'s'", "it's"),
            ("\"a\\\nb\\\r\nc\\x41\\v\\0\"", "abcA\u{b}\0"), ("5.", 5), ("-0x10", -16),
            ("-Infinity", .number(-.infinity)), ("{$a_1: 1}", ["$a_1": 1]), ("{ü: 1}", ["ü": 1]), ("\"\t\"", "\t"),
            ("{名前: 1, e\u{301}\u{200d}9: 2}", ["名前": 1, "e\u{301}\u{200d}9": 2]), ("[1, // end\r2]", [1, 2]),
            ("[1, // end\u{2028}2, // end\u{2029}3]", [1, 2, 3]), ("\"a\\\u{2028}b\\\u{2029}c\"", "abc"),
        ] as [(String, JSONValue)])
    func json5(text: String, value: JSONValue) throws {
        #expect(try JSONValue(parsing: text, dialect: .json5) == value)
        #expect(throws: JSONError.self) { try JSONValue(parsing: text, dialect: .json) }
    }

    @Test(
        "Every blank of JSON5 is one, and none of JSON",
        arguments: [
            0x0b, 0x0c, 0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009,
            0x200a,
            0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff,
        ] as [UInt32])
    func blanks(code: UInt32) throws {
        let blank = try #require(Unicode.Scalar(code))
        let content = code < 0x20 ? "." : String(blank)  // No control character may be inside a string.
        let text = "[1\(blank),\(blank)true\(blank),{\(blank)\"a\"\(blank):\(blank)\"\(content)\"\(blank)}]"
        let value: JSONValue = [1, true, ["a": .string(content)]]
        #expect(try JSONValue(parsing: text, dialect: .json5) == value)
        #expect(try JSONValue(parsing: "{a\(blank): 1}", dialect: .json5) == ["a": 1])
        #expect(throws: JSONError.self) { try JSONValue(parsing: text, dialect: .json) }
    }

    @Test(
        "What is wrong is told with line and column",
        arguments: [
            ("", JSONDialect.json, nil, nil, "empty"),
            ("{\"a\":\n tru}", .json, 2, 2, "text needs quotes"), ("[1,2", .json, 1, 5, "',' or ']' should be"),
            ("{\"a\" 1}", .json, 1, 6, "':' after"), ("{} x", .json, 1, 4, "nothing more"),
            ("{\"a\":010}", .json, 1, 6, "this is not a number"), ("{a:1}", .json, 1, 2, "double quotes"),
            ("[1 2]", .json, 1, 4, "',' or ']'"), ("{\"a\":1]", .json, 1, 7, "',' or '}'"),
            ("[1,]", .json, 1, 4, "a value"), ("{\"a\":1,}", .json, 1, 8, "double quotes"),
            ("\"abc", .json, 1, 1, "no end"), ("\"a\nb\"", .json, 1, 3, "line break"),
            ("{\n  a: 1\n  b: 2\n}", .json5, 3, 3, "',' or '}'"), ("/* x", .json5, 1, 1, "no end"),
            ("{,}", .json5, 1, 2, "name of a member"), ("{a: 48,8}", .json5, 1, 8, "a number has a point, not a comma"),
            ("{a: }", .json5, 1, 5, "write a value before it"),
            ("{a-b: 1}", .json5, 1, 3, "':' after"),
            ("\"\\", .json, 1, 2, "ends inside a string"), ("/", .json5, 1, 1, "comment"),
            ("\u{1}", .json, 1, 1, "byte 1"), ("{a: broker.lan}", .json5, 1, 5, "text needs quotes"),
            ("[Ärger]", .json, 1, 2, "text needs quotes"), ("[True]", .json5, 1, 2, "in small letters: true"),
            (
                "{\u{2019}a\u{2019}: 1}", .json5, 1, 2,
                "'\u{2019}' where the name of a member should be; write the quote \""
            ),
            ("{a: \u{201e}b\u{201c}}", .json5, 1, 5, "'\u{201e}' where a value should be; write the quote \""),
            ("[\u{ab}b\u{bb}]", .json, 1, 2, "'\u{ab}' where a value should be; write the quote \""),
            ("{\u{201c}a\u{201d}:1}", .json, 1, 2, "in double quotes should be; write the quote \""),
            ("{\u{2192}: 1}", .json5, 1, 2, "'\u{2192}' where the name of a member"),
            ("{😀: 1}", .json5, 1, 2, "'😀' where the name of a member"), ("{٣a: 1}", .json5, 1, 2, "'٣' where the name"),
            ("{a\u{201d}: 1}", .json5, 1, 3, "'\u{201d}' where ':' after"),
            ("[1\u{200b}]", .json5, 1, 3, "U+200B where ',' or ']'"),
            ("[\u{a0}1]", .json, 1, 2, "the blank U+00A0 where"),
            ("{a: 1 b: 2}", .json5, 1, 7, "'b' where ',' or '}' should be; write a comma before it"),
            ("[\"a\" \"b\"]", .json, 1, 6, "write a comma before it"),
            ("[1 -2]", .json, 1, 4, "write a comma before it"),
            ("[{} {}]", .json, 1, 5, "write a comma before it"), ("{a = 1}", .json5, 1, 4, "write ':'"),
            ("{a: 1; b: 2}", .json5, 1, 6, "write ','"), ("{a: 1,, b: 2}", .json5, 1, 7, "one comma is enough"),
            ("# a\n{}", .json5, 1, 1, "a comment begins with //"), ("{a: 1, # b\n}", .json5, 1, 8, "begins with //"),
            ("{} # a", .json5, 1, 4, "begins with //"), ("[{a: 1]", .json5, 1, 7, "write '}' before it"),
            ("{a: [1}", .json5, 1, 7, "write ']' before it"),
            ("\"C:\\q\"", .json5, 1, 4, "a backslash is written \\\\"),
            ("host: \"a\"", .json5, 1, 1, "an object begins with '{'"),
            ("// a\nhost = 1", .json5, 2, 1, "begins with '{'"),
        ] as [(String, JSONDialect, Int?, Int?, String)])
    func positions(text: String, dialect: JSONDialect, line: Int?, column: Int?, words: String) {
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text, dialect: dialect) }
        #expect(error?.line == line)
        #expect(error?.column == column)
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
    }

    @Test(
        "Malformed numbers and escapes are refused where they stand, in both dialects",
        arguments: [
            "-", "1.", ".5", "1e", "1e+", "01", "-01", "+1", "1-2", "1..2", "0x", "0xg", "1e999", "--1", "1a", "1.5.5",
        ] + [#""\ud800""#, #""\ud800\u0041""#, #""\udc00""#, #""\u12""#, #""\q""#, #""\x4""#])
    func malformed(text: String) throws {
        let json = #expect(throws: JSONError.self) { try JSONValue(parsing: "[\(text)]") }
        #expect(json?.line == 1)
        let json5 = ["1.", ".5", "+1"]
        guard !json5.contains(text) else { return }
        #expect(throws: JSONError.self) { try JSONValue(parsing: "[\(text)]", dialect: .json5) }
    }

    @Test("Bytes that are not UTF-8 are refused", arguments: [[0x22, 0xff, 0x22], [0xff, 0xff, 0x7b]])
    func notUTF8(bytes: [UInt8]) {
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: bytes) }
        #expect(error?.reason == .notUTF8)
    }

    @Test("Text in UTF-16 is named", arguments: [[0xff, 0xfe, 0x7b, 0, 0x7d, 0], [0xfe, 0xff, 0, 0x7b, 0, 0x7d]])
    func markedUTF16(bytes: [UInt8]) {
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: bytes) }
        #expect(error?.description == "this is UTF-16 text; save it as UTF-8")
    }

    @Test("Text in UTF-16 without a mark is refused too")
    func utf16() {
        #expect(throws: JSONError.self) { try JSONValue(parsing: [0x7b, 0, 0x7d, 0] as [UInt8]) }
    }

    @Test("64 levels are read, 65 are refused")
    func nesting() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        _ = try JSONValue(parsing: nested(64))
        for depth in [65, 1_000_000] {
            let error = #expect(throws: JSONError.self) { try JSONValue(parsing: nested(depth)) }
            #expect(error?.reason == .tooDeep(limit: 64))
        }
    }

    @Test("A text over 8 MiB is refused unread")
    func tooLong() {
        let error = #expect(throws: JSONError.self) {
            try JSONValue(parsing: repeatElement(UInt8(ascii: "["), count: (8 << 20) + 1))
        }
        #expect(error?.reason == .tooLong(bytes: (8 << 20) + 1, limit: 8 << 20))
    }

    @Test("200,000 elements are refused", arguments: ["0", "{}", "\"\"", "[]"])
    func tooManyValues(element: String) {
        let text = "[" + String(repeating: element + ",", count: 199_999) + element + "]"
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
        #expect(error?.reason == .tooManyValues(limit: 200_000))
    }

    @Test("Text is one line, its members sorted, its slashes bare, its whole numbers whole")
    func text() {
        let value: JSONValue = [
            "tst": 1_700_000_000, "_type": "location", "lat": .degrees(52.1234567), "lon": .degrees(6), "a/b": "c/d\n",
            "B": .null, "none": .number(.nan), "list": [true, false],
        ]
        let expected =
            #"{"B":null,"_type":"location","a/b":"c/d\n","lat":52.123457,"list":[true,false],"lon":6,"#
            + #""none":null,"tst":1700000000}"#
        #expect(value.text == expected)
        #expect(value.bytes == Array(expected.utf8))
    }

    @Test("Text that is written part by part is that of the whole value", arguments: 0...3)
    func parts(count: Int) {
        let elements = (0..<count).map { JSONValue.object(["n": .integer(Int64($0)), "\"": "é"]) }
        let members: [String: JSONValue] = ["list": .array(elements), "b\"": "x", "a": 1]
        #expect(JSONValue.bytes(ofArray: elements) == JSONValue.array(elements).bytes)
        #expect(JSONValue.bytes(ofObject: members.mapValues(\.bytes)) == JSONValue.object(members).bytes)
        #expect(JSONValue.bytes(ofObject: [:]) == JSONValue.object([:]).bytes)
    }

    @Test(
        "A text that was written is read back the same", arguments: ["{\"a\\u0000\\\"\":[1.5,-3,\"\\u20ac\"]}", "[]"])
    func roundTrip(text: String) throws {
        let value = try JSONValue(parsing: text)
        #expect(try JSONValue(parsing: value.text) == value)
    }

    @Test(
        "Numbers in strings count as numbers, other strings do not",
        arguments: [
            ("50", 50), ("48.858330", 48.85833), ("-8.0", -8), ("1e2", 100), ("", nil), ("abc", nil), ("nan", nil),
            ("inf", nil), ("0x10", nil), (" 5", nil), ("1e999", nil),
        ] as [(String, Double?)])
    func numbersInStrings(text: String, number: Double?) {
        #expect(JSONValue.string(text).asNumber == number)
    }
}
