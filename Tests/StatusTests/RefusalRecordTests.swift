import Base
import Health
import JSON
import Testing

@Suite struct RefusalRecordTests {
    private static func instant(_ seconds: Double) -> MonotonicInstant { .zero.advanced(by: .seconds(seconds)) }
    private static func refused(
        _ object: String, _ kind: Refused.Kind = .message, on connection: String = "main", because reason: String = "no"
    ) -> Refused { Refused(kind, object, on: connection, because: reason) }

    /// A record of which all is missed.
    private struct Log {
        var record = RefusalRecord()
        @discardableResult mutating func add(
            _ refused: Refused, consequence: RefusalRecord.Consequence? = "", at now: Double = 0
        ) -> RefusalRecord.Naming { record.add(refused, consequence: consequence, at: instant(now)) }
        mutating func admit(_ refused: Refused) -> Bool { record.admit(refused) }
        func standing(at now: Double = 0) -> [String] { record.standing(at: instant(now)).map(\.refused.object) }
        func findings(at now: Double = 0) -> [String] {
            record.findings(besides: "main", at: instant(now)).map(\.text)
        }
    }

    @Test func `An object is named once, and then counted, with the first and the last time`() throws {
        var log = Log()
        let naming1 = log.add(Self.refused("a"), at: 1)
        #expect(naming1 == .named)
        let naming2 = log.add(Self.refused("a"), at: 2)
        #expect(naming2 == .counted)
        let naming3 = log.add(Self.refused("a", because: "quota exceeded"), at: 5)
        #expect(naming3 == .counted)
        let entry = try #require(log.record.entries.first)
        #expect((entry.count, entry.first, entry.last) == (3, Self.instant(1), Self.instant(5)))
        #expect(entry.refused.reason == "quota exceeded")
    }

    @Test func `Connection, kind and object together are what is refused`() {
        var log = Log()
        let all = [
            Self.refused("a"), Self.refused("a", .subscription), Self.refused("a", on: "availability"),
            Self.refused("b"),
        ]
        let namings = all.map { log.add($0) }
        #expect(namings.allSatisfy { $0 == .named })
        #expect(log.record.entries.map(\.refused) == all)
    }

    @Test func `What is admitted is over, and is named when it is refused again`() {
        var log = Log()
        log.add(Self.refused("a"))
        let ended = [log.admit(Self.refused("a")), log.admit(Self.refused("a"))]
        #expect(ended == [true, false])
        #expect(log.standing().isEmpty && log.record.entries.count == 1)
        let naming4 = log.add(Self.refused("a"), at: 9)
        #expect(naming4 == .named)
        #expect(log.standing() == ["a"])
    }

    @Test func `What ends with an admission`() {
        let table: [(refused: Refused.Kind, admitted: Refused.Kind, object: String, ends: Bool)] = [
            (.message, .message, "o", true), (.size, .message, "o", true), (.message, .message, "other", false),
            (.message, .subscription, "o", false), (.subscription, .subscription, "o", true),
            (.subscription, .message, "o", false), (.connection, .connection, "o", true),
            (.clientID, .connection, "another id", true), (.message, .connection, "o", false),
            (.retain, .connection, "o", false),
        ]
        for row in table {
            var log = Log()
            log.add(Self.refused("o", row.refused))
            let hasEnded = log.admit(Self.refused(row.object, row.admitted))
            #expect(hasEnded == row.ends, "\(row)")
        }
        var log = Log()
        log.add(Self.refused("o"))
        let hasEnded = log.admit(Self.refused("o", on: "availability"))
        #expect(!hasEnded)
    }

    @Test func `Of more than 64 objects the one that was refused last is forgotten first`() {
        var log = Log()
        for number in 0..<64 { log.add(Self.refused("\(number)"), at: Double(number)) }
        log.add(Self.refused("0"), at: 100)
        log.add(Self.refused("new"), at: 101)
        #expect(log.record.entries.count == 64)
        #expect(log.standing(at: 101).first == "0" && !log.standing(at: 101).contains("1"))
        #expect(log.record.totals.values.reduce(0, +) == 66)
    }

    @Test func `A flood of objects is not named without end`() {
        var log = Log()
        let named = (0..<1000).filter { log.add(Self.refused("\($0)"), at: 1) == .named }
        #expect(named.count == 64)
        let naming5 = log.add(Self.refused("later"), at: 3602)
        #expect(naming5 == .named)
    }

    @Test func `What nobody misses is no finding and is not named, until it is missed`() {
        var log = Log()
        let naming6 = log.add(Self.refused("a"), consequence: nil)
        #expect(naming6 == .counted)
        #expect(log.standing().isEmpty && log.record.entries.count == 1)
        let naming7 = log.add(Self.refused("a"), consequence: "x")
        #expect(naming7 == .named)
        #expect(log.standing() == ["a"])
    }

    @Test func `What was not refused for a day is no finding`() {
        var log = Log()
        log.add(Self.refused("a"))
        #expect(log.standing(at: 86_399) == ["a"])
        #expect(log.standing(at: 86_400).isEmpty)
    }

    @Test func `A connection with new settings begins with nothing refused`() {
        var log = Log()
        log.add(Self.refused("a"))
        log.add(Self.refused("b", on: "availability"))
        log.record.forget("main")
        #expect(log.standing() == ["b"])
    }

    @Test func `One finding for each kind and reason names three objects and counts the others`() {
        var log = Log()
        for name in ["a", "b", "c", "d", "e"] { log.add(Self.refused(name), consequence: "x is missing") }
        log.add(Self.refused("f", because: "quota"))
        log.add(Self.refused("g", .subscription))
        #expect(
            log.findings() == [
                "messages to a, b, c and 2 more are refused: no; x is missing", "messages to f are refused: quota",
                "the broker refuses the subscription to g: no",
            ])
    }

    @Test func `The gravest consequence is said first, and of equal ones that of the first refusal`() {
        var log = Log()
        for (name, text, rank) in [
            ("a", "low", 9), ("b", "later", 2), ("c", "least", 12), ("d", "also", 2), ("e", "grave", 0),
        ] {
            log.add(Self.refused(name), consequence: RefusalRecord.Consequence(text, rank: rank))
        }
        #expect(log.findings() == ["messages to e, b, d and 2 more are refused: no; grave; later; also"])
    }

    @Test func `What nobody has words for is said behind what has a consequence`() {
        var log = Log()
        log.add(Self.refused("a"), consequence: "")
        log.add(Self.refused("b"), consequence: RefusalRecord.Consequence("low", rank: 9))
        #expect(log.findings() == ["messages to b, a are refused: no; low"])
    }

    @Test func `Rights are missing only where the reason may be rights`() {
        for kind in [Refused.Kind.message, .subscription] {
            for (cause, remedy) in [
                (Refused.Cause.rights, "right"), (.quota, "quotas"), (.unsupported, "own settings"),
            ] {
                var log = Log()
                log.add(Refused(kind, "a", on: "availability", because: "no", cause: cause))
                let remedies = log.record.findings(besides: "main", at: .zero).map(\.remedy)
                #expect(remedies.count == 1 && remedies[0].contains(remedy), "\(kind) \(cause): \(remedies)")
            }
        }
        var log = Log()
        log.add(Self.refused("a"))
        log.add(Refused(.message, "a", on: "main", because: "no", cause: .quota))
        #expect(log.record.entries.map(\.refused.cause) == [.quota])
    }

    @Test func `One and several of a kind have their own words`() {
        for (kind, one, two) in [
            (Refused.Kind.connection, "the connection 'a' is refused: no", "the connections 'a', 'b' are refused: no"),
            (.clientID, "the client id 'a' is refused: no", "the client ids 'a', 'b' are refused: no"),
            (.message, "messages to a are refused: no", "messages to a, b are refused: no"),
            (
                .subscription, "the broker refuses the subscription to a: no",
                "the broker refuses the subscriptions to a, b: no"
            ),
        ] {
            var log = Log()
            log.add(Self.refused("a", kind, on: "readings"))
            #expect(log.findings() == [one])
            log.add(Self.refused("b", kind, on: "readings"))
            #expect(log.findings() == [two])
        }
        let refused = Self.refused(String(repeating: "t", count: 300))
        var log = Log()
        log.add(refused)
        #expect(refused.sentence(times: log.record.count(of: refused)) == refused.sentence)
        log.add(refused)
        #expect(refused.sentence(times: log.record.count(of: refused)) == refused.sentence + "; 2 times")
    }

    @Test func `The first connection's own failures are shown as its state, those of others here`() {
        var log = Log()
        log.add(Self.refused("gw", .connection))
        #expect(log.findings().isEmpty)
        log.add(Self.refused("gw-availability", .connection, on: "availability", because: "bad"))
        #expect(log.findings() == ["the connection 'gw-availability' is refused: bad"])
    }

    @Test func `Every kind has words, and the metrics have no object`() {
        var log = Log()
        for kind in Refused.Kind.allCases { log.add(Self.refused("topic", kind, on: "availability")) }
        #expect(log.findings().count == Refused.Kind.allCases.count)
        let labels = log.record.labelledTotals.map { $0.labels.map { "\($0)=\($1)" }.joined(separator: ",") }
        #expect(labels.count == Refused.Kind.allCases.count && !labels.contains { $0.contains("topic") })
        #expect(labels.contains("connection=availability,kind=client id"))
    }

    @Test func `Text from outside is bounded`() throws {
        var log = Log()
        log.add(Self.refused(String(repeating: "é", count: 60_000), because: String(repeating: "x", count: 60_000)))
        let entry = try #require(log.record.entries.first)
        #expect(entry.refused.object.utf8.count < 1000 && entry.refused.reason.utf8.count < 1000)
        let hasEnded = log.admit(Self.refused(String(repeating: "é", count: 60_000)))
        #expect(hasEnded)
    }

    @Test func `The JSON of an entry`() {
        var log = Log()
        log.add(Self.refused("a"), at: 1)
        #expect(
            log.record.json(at: Self.instant(3)).text
                == #"[{"connection":"main","count":1,"firstAgo":2,"kind":"message","lastAgo":2,"object":"a","over":false,"reason":"no"}]"#
        )
    }
}
