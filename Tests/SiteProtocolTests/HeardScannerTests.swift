import Beacon
import SiteProtocol
import Testing

/// Messages of gateways are read by a scanner of one form. Others are read as JSON.
@Suite struct HeardScannerTests {
    private static let message =
        #"{"v":1,"boot":"f3a9","seq":7,"at":123456,"listening":1000,"reports":41,"beacons":["#
        + #"{"id":"CA271EAE-5FA8-4E80-8F08-2A302A95A959:1:7","n":3,"rssi":-71,"max":-68,"power":-59,"age":120},"#
        + #"{"id":"ca271eae-5fa8-4e80-8f08-2a302a95a959:65535:0","n":1,"power":-59,"age":0}]}"#

    private static func bothForms(_ payload: [UInt8]) -> (HeardSecond?, HeardSecond?) {
        (try? FeedDecoder.heard(payload), try? FeedDecoder.heardInAnyForm(payload))
    }

    @Test func `What the scanner takes is what the JSON says`() throws {
        let (scanned, read) = Self.bothForms(Array(Self.message.utf8))
        #expect(scanned == read)
        #expect(scanned?.readings.map(\.level) == [-71, nil])
        #expect(scanned?.readings.last?.beacon.major == 65535)
    }

    @Test(
        arguments: [
            (#""seq":7"#, #""seq":07"#), (#""seq":7"#, #""seq":-7"#), (#""seq":7"#, #""seq":7.5"#),
            (#""seq":7"#, #""seq":99999999999999999999"#), (#""n":3"#, #""n":0"#), (#""n":3"#, #""n":1e2"#),
            (#""power":-59"#, #""power":-0"#), (#""power":-59"#, #""power":60"#), (#""rssi":-71"#, #""rssi":127"#),
            (#""max":-68"#, #""max":null"#), (#""at":123456"#, #""at":-1"#), (#""at":123456"#, #""at": 123456"#),
            (#"f3a9"#, #"f\u0033a9"#), (#"f3a9"#, "fö"), (":1:7", ":1:7:9"), (":1:7", ":1:70000"), (":1:7", ":+1:7"),
            ("CA271EAE-", "CA271EAE"), ("CA27", "GA27"), (#","age":120"#, ""), ("]}", "]} "), ("]}", "]}x"),
        ])
    func `A message of another form is read, or refused, as JSON is`(_ change: (String, String)) throws {
        var text = Self.message
        let range = try #require(text.firstRange(of: change.0))
        text.replaceSubrange(range, with: change.1)
        let (scanned, read) = Self.bothForms(Array(text.utf8))
        #expect(scanned == read)
    }

    @Test func `Whatever is wrong with a message, both ways of reading it agree`() {
        let seed: UInt64 = 19
        var state = seed
        func random(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(count))
        }
        let alphabet = Array(#"0123456789-+.eE"{}[],:abCDnull\ "#.utf8) + [0, 0x7f, 0xff]
        var taken = 0
        for _ in 0..<5000 {
            var payload = Array(Self.message.utf8)
            for _ in 0...random(3) {
                let place = random(payload.count)
                switch random(3) {
                case 0: payload[place] = alphabet[random(alphabet.count)]
                case 1: payload.remove(at: place)
                default: payload.insert(alphabet[random(alphabet.count)], at: place)
                }
            }
            let (scanned, read) = Self.bothForms(payload)
            #expect(scanned == read, "seed \(seed): \(String(decoding: payload, as: UTF8.self))")
            if read != nil { taken += 1 }
        }
        #expect(taken > 100)
    }

    @Test func `256 beacons are read, and one more is refused`() {
        func message(_ count: Int) -> [UInt8] {
            let beacons = (0..<count).map {
                #"{"id":"CA271EAE-5FA8-4E80-8F08-2A302A95A959:1:\#($0)","n":1,"rssi":-70,"max":-70,"power":-59,"age":1}"#
            }
            let head = #"{"v":1,"boot":"a","seq":1,"at":1,"listening":1000,"reports":1,"beacons":["#
            return Array((head + beacons.joined(separator: ",") + "]}").utf8)
        }
        #expect((try? FeedDecoder.heard(message(256)))?.readings.count == 256)
        #expect((try? FeedDecoder.heard(message(257))) == nil)
        #expect((try? FeedDecoder.heard(message(0)))?.readings == [])
    }
}
