import Base
import HTTPMessaging
import TestSupport
import Testing

/// The pause that a server asks for.
@Suite struct RetryAfterTests {
    private static func pause(_ lines: [String]) -> Duration? {
        var header = RetryAfter()
        for line in ["HTTP/1.1 503 Service Unavailable"] + lines { header.read(Array((line + "\r\n").utf8)) }
        return header.pause
    }

    private static let date = "Date: Sun, 06 Nov 1994 08:49:37 GMT"

    @Test(
        arguments: [
            ([], nil), (["Retry-After: 120"], 120), (["retry-after:120"], 120), (["RETRY-AFTER: \t120 \t"], 120),
            (["Retry-After: 0"], 0), (["Retry-After: 0007"], 7), (["Retry-After: 3600"], 3600),
            (["Retry-After: 3601"], 3600), (["Retry-After: 9223372036854775807"], 3600),
            (["Retry-After: 9223372036854775808"], 3600), (["Retry-After: 99999999999999999999999999"], 3600),
            // The latest of several counts.
            (["Retry-After: 1", "Retry-After: 2"], 2),
            // No numbers.
            (["Retry-After: -1"], nil), (["Retry-After: +1"], nil), (["Retry-After: 1.5"], nil),
            (["Retry-After: 1 s"], nil), (["Retry-After:"], nil), (["Retry-After: \u{661}"], nil),
            (["Retry-After: " + String(repeating: "1", count: 65)], nil), (["X-Retry-After: 9"], nil),
            (["Retry-After"], nil),
            // A date, by the server's own clock.
            ([date, "Retry-After: Sun, 06 Nov 1994 08:50:07 GMT"], 30),
            (["Retry-After: Sun, 06 Nov 1994 08:50:07 GMT", date], 30),
            ([date, "Retry-After: Mon, 07 Nov 1994 08:49:37 GMT"], 3600),
            ([date, "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT"], 3600),
            ([date, "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT"], 0),
            ([date, "Retry-After: Thu, 01 Jan 1970 00:00:00 GMT"], 0),
            // Without the server's time it says nothing.
            (["Retry-After: Sun, 06 Nov 1994 08:50:07 GMT"], nil),
            (["Date: now", "Retry-After: Sun, 06 Nov 1994 08:50:07 GMT"], nil),
            // No dates.
            ([date, "Retry-After: Sun, 31 Jun 1994 08:50:07 GMT"], nil),
            ([date, "Retry-After: Sun, 06 Nov 1994 24:50:07 GMT"], nil),
            ([date, "Retry-After: Sun, 06 Nov 1994 08:50 GMT"], nil),
            ([date, "Retry-After: Sun, 06 Nov 94 08:50:07 GMT"], nil),
            ([date, "Retry-After: Sun, 06 Nov 1994 08:50:07 CET"], nil),
            ([date, "Retry-After: Sunday, 06-Nov-94 08:50:07 GMT"], nil),
            ([date, "Retry-After: Sun, -6 Nov 1994 08:50:07 GMT"], nil), ([date, "Retry-After: soon"], nil),
        ] as [([String], Int?)])
    func `Seconds and dates are read, up to an hour, and nothing else is`(lines: [String], seconds: Int?) {
        #expect(Self.pause(lines) == seconds.map { .seconds($0) })
    }

    @Test func `What stood in the header before another status line does not count`() {
        #expect(Self.pause(["Retry-After: 9", "HTTP/1.1 503 Service Unavailable"]) == nil)
        #expect(Self.pause(["Retry-After: 9", "", "HTTP/1.1 200 OK", "Retry-After: 5"]) == .seconds(5))
    }

    @Test func `No line is too strange`() {
        var random = SplitMix64(seed: 53)
        for _ in 0..<20_000 {
            var header = RetryAfter()
            header.read(Array(Self.date.utf8))
            let count = Int(random.next() % 40)
            header.read(Array("Retry-After:".utf8) + (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) })
            if let pause = header.pause { #expect(pause >= .zero && pause <= RetryAfter.longest) }
        }
    }

    // MARK: - With the real libcurl

    private static func pauses(_ owner: HTTPOwner) -> [Duration] {
        owner.events.compactMap { event in
            guard case .failed(_, let retryIn) = event else { return nil }
            return retryIn
        }
    }

    @Test(arguments: [429, 503], [["Retry-After: 7200"], [date, "Retry-After: Sun, 06 Nov 1994 10:49:37 GMT"]])
    func `A server that asks for a pause gets it, also for its answer to the empty message`(
        status: Int, headers: [String]
    ) throws {
        let endpoint = try ScriptedEndpoint { _ in .answer(status, "[]", headers: headers) }
        defer { endpoint.close() }
        let owner = try HTTPOwner(HTTPSettings(for: endpoint))
        #expect(owner.post(1))
        #expect(eventually { !owner.failures.isEmpty })
        #expect(Self.pauses(owner) == [RetryAfter.longest])
        #expect(!eventually(within: .milliseconds(300)) { endpoint.requests.count > 1 })
    }

    @Test(arguments: [(200, 0), (500, 1), (403, 1)])
    func `Other answers ask for none`(status: Int, failures: Int) throws {
        let count = Count()
        let endpoint = try ScriptedEndpoint {
            $0.body.isEmpty || count.next() > 1 ? .status(200) : .answer(status, "[]", headers: ["Retry-After: 7200"])
        }
        defer { endpoint.close() }
        let owner = try HTTPOwner(HTTPSettings(for: endpoint))
        #expect(owner.post(1))
        let isLong: (Duration) -> Bool = { $0 > .seconds(60) }
        #expect(eventually { owner.taken == [1] || Self.pauses(owner).contains(where: isLong) })
        #expect(owner.taken == [1])
        #expect(Self.pauses(owner).count == failures && !Self.pauses(owner).contains(where: isLong))
    }

    @Test func `A shorter pause than that of the failures is no reason to come earlier`() throws {
        let endpoint = try ScriptedEndpoint { _ in .answer(503, "[]", headers: ["Retry-After: 0"]) }
        defer { endpoint.close() }
        var settings = HTTPSettings(for: endpoint)
        settings.limits.firstRetryDelay = .seconds(40)
        let owner = try HTTPOwner(settings)
        #expect(eventually { !owner.failures.isEmpty })
        #expect(try #require(Self.pauses(owner).first) >= .seconds(30))
    }

    @Test func `Later messages, which are tried after six failures of the first, wait for the pause too`() throws {
        let count = Count()
        let endpoint = try ScriptedEndpoint { request in
            guard !request.body.isEmpty else { return .status(200) }
            return .answer(503, "[]", headers: count.next() < PostQueue.patience ? [] : ["Retry-After: 3000"])
        }
        defer { endpoint.close() }
        let owner = try HTTPOwner(HTTPSettings(for: endpoint))
        for token in 1...3 { #expect(owner.post(Int64(token))) }
        #expect(eventually { owner.failures.count == PostQueue.patience })
        #expect(Self.pauses(owner).last == .seconds(3000))
        #expect(!eventually(within: .milliseconds(300)) { endpoint.messages.count > PostQueue.patience })
        #expect(endpoint.messages.allSatisfy { $0.text == "{\"n\":1}" })
    }

    @Test func `The end of a connection does not wait for the pause`() throws {
        let endpoint = try ScriptedEndpoint { _ in .answer(503, "[]", headers: ["Retry-After: 3600"]) }
        defer { endpoint.close() }
        let owner = try HTTPOwner(HTTPSettings(for: endpoint))
        #expect(eventually { !owner.failures.isEmpty })
        let begin = ContinuousClock.now
        owner.connection.stop(within: .seconds(60))
        #expect(begin.duration(to: .now) < .seconds(30))
    }
}
