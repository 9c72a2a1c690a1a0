import Health
import HostSupport
import JSON
import StatusPageSupport
import Testing

@testable import PageServer
@testable import StatusPage

@Suite("Metrics")
struct MetricsTests {
    /// The rules of `promtool check metrics`, so that they hold also where that program is not installed.
    @Test("Every family has help, a type, a base unit and a fitting suffix")
    func rules() {
        let home = FakeHome(host: PollLoop())
        home.obey("enter b4b412")
        var families: [String: String] = [:]
        var helped: Set<String> = []
        var samples: Set<String> = []
        for line in home.statusSnapshot().metrics(ClientCounters(streams: 1, dropped: 2)).split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            if line.hasPrefix("# HELP ") {
                #expect(helped.insert(words[2]).inserted, "\(words[2]) stands twice")
                #expect(words.count > 4)
            } else if line.hasPrefix("# TYPE ") {
                families[words[2]] = words[3]
            } else {
                let name = String(line.prefix { $0 != "{" && $0 != " " })
                #expect(families[name] != nil && helped.contains(name), "\(line)")
                #expect(Double(words.last ?? "") != nil, "\(line)")
                #expect(samples.insert(String(line.prefix { $0 != "}" })).inserted || !line.contains("{"), "\(line)")
            }
        }
        for (name, kind) in families {
            #expect(name.hasPrefix("ibeacon_gateway_") || name.hasPrefix("process_"))
            #expect((kind == "counter") == name.hasSuffix("_total"), "\(name)")
            for unit in ["_milliseconds", "_minutes", "_ms", "_percent", "_kilobytes"] {
                #expect(!name.hasSuffix(unit), "\(name)")
            }
        }
        #expect(families.count > 20)
    }

    @Test(
        "Label values are escaped and bounded",
        arguments: [
            ("a\"b", "a\\\"b"), ("a\\b", "a\\\\b"), ("a\nb", "a\\nb"), ("a\0b", "a b"), ("<script>", "<script>"),
        ])
    func escaping(text: String, expected: String) {
        #expect(MetricsWriter.escaped(text) == expected)
        #expect(MetricsWriter.escaped(String(repeating: "x", count: 10_000)).count == JSONValue.shownCharacters)
    }
}
