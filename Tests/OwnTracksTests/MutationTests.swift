import Configuration
import JSON
import OwnTracks
import Regions
import TestSupport
import Testing

/// Good texts with damage done to them, the same damage on every run.
private struct Mutator {
    private static let words = [
        "\\u", "\\ud83d\\ude00", "1e+", "0x", "-", "null", "{}", "[]", "\"\"", "//", "/*", "*/", "\\", "'", "+follow",
        "|1|2", ":", "1e999", "9223372036854775808", "\"_type\"", "NaN", "100", "\0",
    ].map { Array($0.utf8) }

    var generator = SplitMix64(seed: 42)

    mutating func below(_ limit: Int) -> Int { Int(generator.next() % UInt64(limit)) }

    mutating func damage(_ text: [UInt8]) -> [UInt8] {
        var text = text
        for _ in 0...below(6) {
            let index = below(text.count + 1)
            switch below(4) {
            case 0: if index < text.count { text[index] = UInt8(truncatingIfNeeded: generator.next()) }
            case 1: text.insert(contentsOf: Self.words[below(Self.words.count)], at: index)
            case 2: text.removeSubrange(index..<min(text.count, index + below(20)))
            default:
                let copy = Array(text[index..<min(text.count, index + below(30))])
                text.insert(contentsOf: copy, at: below(text.count + 1))
            }
        }
        return text
    }
}

@Suite struct DamagedTexts {
    private static let texts: [[UInt8]] = [
        Array(CommandRules.documentedExample.utf8), Array(Files.iOSConfiguration.utf8),
        Array(Configuration.commentedDefault.utf8),
        Array(waypointsMessage(Files.regions.compactMap { try? region($0) }).text.utf8),
    ]

    @Test("Whatever is read of a damaged text comes back the same when it is written")
    func roundTrips() throws {
        var mutator = Mutator()
        var read = 0
        for round in 0..<800 {
            let text = mutator.damage(Self.texts[round % Self.texts.count])
            for dialect in [JSONDialect.json, .json5] {
                guard let json = try? JSONValue(parsing: text, dialect: dialect) else { continue }
                read += 1
                _ = try? Command(json)
                try checkConfiguration(json)
                try checkWaypoints(json)
            }
        }
        // Otherwise the damage is so great that nothing was tested.
        #expect(read > 80)
    }

    private func checkConfiguration(_ json: JSONValue) throws {
        guard let configuration = try? Configuration(json, hostName: "pi") else { return }
        _ = try? RemoteSettings(applying: json, to: configuration.shown, hostName: "pi")
        guard !configuration.holdsSecret else { return }
        #expect(try Configuration(configuration.shown, hostName: "x").shown == configuration.shown)
    }

    private func checkWaypoints(_ json: JSONValue) throws {
        for base in NumberBase.allCases {
            guard let reading = try? WaypointsReading(json, base: base) else { continue }
            let set = RegionSet.reading(reading)
            let text = waypointsMessage(set.regions, base: base).text
            #expect(RegionSet.reading(try WaypointsReading(JSONValue(parsing: text), base: base)) == set)
        }
    }
}
