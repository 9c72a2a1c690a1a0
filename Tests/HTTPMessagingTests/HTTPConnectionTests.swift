import Base
import HTTPMessaging
import TestSupport
import Testing

/// OwnTracks over HTTP, against a server of the test's own and with the real libcurl.
@Suite struct HTTPConnectionTests {
    @Test func `A message is posted with its sender's headers, and taken when the server says so`() throws {
        let endpoint = try ScriptedEndpoint()
        defer { endpoint.close() }
        let owner = try HTTPOwner(HTTPSettings(for: endpoint))
        #expect(owner.post(1, #"{"_type":"location"}"#, by: HTTPSender(user: "ann", device: "keys")))
        #expect(eventually { owner.taken == [1] })
        let request = try #require(endpoint.messages.first)
        #expect((request.method, request.path) == ("POST", "/pub"))
        #expect(request.text == #"{"_type":"location"}"#)
        #expect(request.headers["content-type"] == "application/json")
        #expect((request.headers["x-limit-u"], request.headers["x-limit-d"]) == ("ann", "keys"))
        #expect(request.headers["authorization"] == nil)
        #expect(request.headers["expect"] == nil)
    }

    @Test func `The login is sent with every request, by basic authentication`() throws {
        let endpoint = try ScriptedEndpoint()
        defer { endpoint.close() }
        var settings = HTTPSettings(for: endpoint)
        (settings.username, settings.password) = ("jane", Secret("s3cr1t"))
        let owner = try HTTPOwner(settings)
        #expect(owner.post(1))
        #expect(eventually { owner.taken == [1] })
        // jane:s3cr1t
        #expect(
            endpoint.requests.map { $0.headers["authorization"] } == [
                "Basic amFuZTpzM2NyMXQ=", "Basic amFuZTpzM2NyMXQ=",
            ])
    }

    @Test func `The server is greeted with an empty message before any other, and asked for nothing but HTTP`() throws {
        let endpoint = try ScriptedEndpoint()
        defer { endpoint.close() }
        let owner = try HTTPOwner(HTTPSettings(for: endpoint))
        #expect(eventually { owner.events == [.reached] })
        #expect(endpoint.requests.map(\.body) == [[]])
        #expect(endpoint.requests.first?.headers["x-limit-d"] == "hall")
    }

    @Test func `A server that takes no empty message is a server all the same`() throws {
        let endpoint = try ScriptedEndpoint { .status($0.body.isEmpty ? 400 : 200) }
        defer { endpoint.close() }
        let owner = try HTTPOwner(HTTPSettings(for: endpoint))
        #expect(owner.post(1))
        #expect(eventually { owner.taken == [1] })
        #expect(owner.failures.isEmpty)
    }

    @Test func `Messages go one at a time, in their order, and each once`() throws {
        let endpoint = try ScriptedEndpoint()
        defer { endpoint.close() }
        let owner = try HTTPOwner(HTTPSettings(for: endpoint))
        for token in 1...50 { #expect(owner.post(Int64(token))) }
        #expect(eventually { owner.taken.count == 50 })
        #expect(owner.taken == Array(1...50))
        #expect(endpoint.messages.map(\.text) == (1...50).map { "{\"n\":\($0)}" })
    }

    @Test(arguments: [401, 403, 404, 405, 407, 408, 410, 425, 429, 301, 302, 500, 502, 503, 504])
    func `After an answer that is of the moment, the same message is the next one`(status: Int) throws {
        let count = Count()
        // The second message meets it twice.
        let endpoint = try ScriptedEndpoint { request in
            .status(request.text == "{\"n\":2}" && count.next() <= 2 ? status : 200)
        }
        defer { endpoint.close() }
        let owner = try HTTPOwner(HTTPSettings(for: endpoint))
        for token in 1...3 { #expect(owner.post(Int64(token))) }
        #expect(eventually { owner.taken.count == 3 })
        #expect(owner.taken == [1, 2, 3])
        #expect(owner.refused.isEmpty)
        #expect(owner.failures == [.status(status), .status(status)])
        #expect(endpoint.messages.map(\.text).map { $0.filter(\.isNumber) } == ["1", "2", "2", "2", "3"])
    }

    @Test(arguments: [400, 406, 409, 413, 414, 415, 422, 431])
    func `A message that the server does not take is set aside, and the next one goes`(status: Int) throws {
        let endpoint = try ScriptedEndpoint { .status($0.text == "{\"n\":2}" ? status : 200) }
        defer { endpoint.close() }
        let owner = try HTTPOwner(HTTPSettings(for: endpoint))
        for token in 1...3 { #expect(owner.post(Int64(token))) }
        #expect(eventually { owner.taken == [1, 3] })
        #expect(owner.events.contains(.refused(token: 2, status: status)))
        #expect(owner.failures.isEmpty)
        #expect(endpoint.messages.count == 3)
    }

    @Test(arguments: [401, 403, 404, 405, 410, 308])
    func `Where nothing can be posted, no message is tried, and none is lost`(status: Int) throws {
        let endpoint = try ScriptedEndpoint { _ in .status(status) }
        defer { endpoint.close() }
        let owner = try HTTPOwner(HTTPSettings(for: endpoint))
        #expect(owner.post(1))
        #expect(eventually { owner.failures.count >= 4 })
        #expect(endpoint.messages.isEmpty)
        #expect(owner.taken.isEmpty && owner.refused.isEmpty)
        endpoint.reply { _ in .status(200) }
        #expect(eventually { owner.taken == [1] })
    }

    @Test(arguments: [(400, 400), (406, 406), (400, 404)])
    func `A server that refuses everything costs no message`(greeting: Int, status: Int) throws {
        let endpoint = try ScriptedEndpoint { .status($0.body.isEmpty ? greeting : status) }
        defer { endpoint.close() }
        let owner = try HTTPOwner(HTTPSettings(for: endpoint))
        for token in 1...3 { #expect(owner.post(Int64(token))) }
        #expect(eventually { owner.failures.count >= 5 || !owner.refused.isEmpty })
        #expect(owner.refused.isEmpty)
        #expect(Set(endpoint.messages.map(\.text)) == ["{\"n\":1}"])
        endpoint.reply { _ in .status(200) }
        #expect(eventually { owner.taken == [1, 2, 3] })
    }

    @Test func `A server that refuses empty messages refuses others after it has accepted one`() throws {
        let endpoint = try ScriptedEndpoint { .status($0.body.isEmpty || $0.text == "{\"n\":2}" ? 400 : 200) }
        defer { endpoint.close() }
        let owner = try HTTPOwner(HTTPSettings(for: endpoint))
        for token in 1...3 { #expect(owner.post(Int64(token))) }
        #expect(eventually { owner.taken == [1, 3] })
        #expect(owner.refused == [2])
        #expect(owner.failures.isEmpty)
    }

    @Test func `A message that is too large is set aside, also if the server refuses empty messages`() throws {
        let endpoint = try ScriptedEndpoint { .status($0.body.isEmpty ? 400 : $0.text == "{\"n\":1}" ? 413 : 200) }
        defer { endpoint.close() }
        let owner = try HTTPOwner(HTTPSettings(for: endpoint))
        for token in 1...2 { #expect(owner.post(Int64(token))) }
        #expect(eventually { owner.taken == [2] })
        #expect(owner.refused == [1])
    }

    @Test func `A message for which there is nothing at the address three times, where others are taken, is set aside`()
        throws
    {
        let endpoint = try ScriptedEndpoint { .status($0.text == "{\"n\":1}" ? 404 : 200) }
        defer { endpoint.close() }
        let owner = try HTTPOwner(HTTPSettings(for: endpoint))
        for token in 1...2 { #expect(owner.post(Int64(token))) }
        #expect(eventually { owner.taken == [2] })
        #expect(owner.refused == [1])
        #expect(endpoint.messages.map(\.text) == Array(repeating: "{\"n\":1}", count: 3) + ["{\"n\":2}"])
    }

    @Test func `A server that goes and comes back gets everything, in order`() throws {
        let place = try LoopbackPort.Listener(listens: false)
        let owner = try HTTPOwner(HTTPSettings(quick: "http://127.0.0.1:\(place.port)/pub"))
        for token in 1...5 { #expect(owner.post(Int64(token))) }
        #expect(eventually { owner.failures.count >= 2 })
        guard case .unreachable? = owner.failures.first else {
            Issue.record("\(owner.failures)")
            return
        }
        let endpoint = try ScriptedEndpoint(on: place)
        defer { endpoint.close() }
        #expect(eventually { owner.taken == Array(1...5) })
        #expect(endpoint.messages.count == 5)
    }

    @Test func `A connection that breaks before the answer costs no message`() throws {
        let count = Count()
        let endpoint = try ScriptedEndpoint { request in
            request.body.isEmpty || count.next() > 3 ? .status(200) : .hangUp
        }
        defer { endpoint.close() }
        let owner = try HTTPOwner(HTTPSettings(for: endpoint))
        #expect(owner.post(1))
        #expect(eventually { owner.taken == [1] })
        #expect(!owner.failures.isEmpty)
        #expect(Set(endpoint.messages.map(\.text)) == ["{\"n\":1}"])
    }

    @Test func `A server that does not answer is given up, and asked again`() throws {
        let count = Count()
        let endpoint = try ScriptedEndpoint { request in
            request.body.isEmpty || count.next() > 1 ? .status(200) : .silence
        }
        defer { endpoint.close() }
        var settings = HTTPSettings(for: endpoint)
        // On a busy machine others may be too slow as well.
        settings.limits.request = .seconds(1)
        let owner = try HTTPOwner(settings)
        #expect(owner.post(1))
        #expect(eventually { owner.taken == [1] })
        #expect(Set(owner.failures.map(\.description)) == [HTTPFailure.silent.description])
    }

    @Test func `A redirect is not followed: the login would go with it`() throws {
        let other = try ScriptedEndpoint()
        defer { other.close() }
        let location = "Location: \(other.url)"
        let endpoint = try ScriptedEndpoint { _ in .answer(307, "", headers: [location]) }
        defer { endpoint.close() }
        var settings = HTTPSettings(for: endpoint)
        settings.password = Secret("s3cr1t")
        let owner = try HTTPOwner(settings)
        #expect(eventually { owner.failures.count >= 2 })
        #expect(owner.failures.first == .status(307))
        #expect(other.requests.isEmpty)
    }

    @Test func `Answers are handed over with the sender of their message`() throws {
        let endpoint = try ScriptedEndpoint { .status(200, $0.body.isEmpty ? "" : "[{\"for\":\($0.text)}]") }
        defer { endpoint.close() }
        let owner = try HTTPOwner(HTTPSettings(for: endpoint))
        #expect(owner.post(1, by: HTTPSender(user: "ann", device: "keys")))
        #expect(eventually { owner.answers.count == 1 })
        let (answer, sender) = try #require(owner.answers.first)
        #expect(String(decoding: answer.body, as: UTF8.self) == #"[{"for":{"n":1}}]"#)
        #expect(sender == HTTPSender(user: "ann", device: "keys"))
    }

    @Test func `An answer that is too large is not read, and its message is taken`() throws {
        let endpoint = try ScriptedEndpoint {
            .status(200, $0.body.isEmpty ? "" : String(repeating: "x", count: 3_000_000))
        }
        defer { endpoint.close() }
        let owner = try HTTPOwner(HTTPSettings(for: endpoint))
        for token in 1...2 { #expect(owner.post(Int64(token))) }
        #expect(eventually { owner.taken == [1, 2] })
        let answer = try #require(owner.answers.first?.answer)
        #expect(answer.body.isEmpty)
        let excess = try #require(answer.excess)
        #expect((256 << 10)...(300 << 10) ~= excess, "\(excess)")
        #expect(owner.failures.isEmpty)
    }

    @Test func `After an answer with commands a moment passes, so that a server that always has one is no storm`()
        throws
    {
        let endpoint = try ScriptedEndpoint { _ in .status(200, "[1]") }
        defer { endpoint.close() }
        var settings = HTTPSettings(for: endpoint)
        settings.limits.pause = .milliseconds(200)
        let owner = try HTTPOwner(settings) { _ in true }
        let start = ContinuousClock.now
        for token in 1...5 { #expect(owner.post(Int64(token))) }
        #expect(eventually { owner.taken.count == 5 })
        // The greeting's and those of four messages.
        #expect(start.duration(to: .now) >= .seconds(1))
    }

    // MARK: - What is no delivery

    @Test(arguments: [
        "<!DOCTYPE html><title>Welcome</title>", "<html>", " \r\n\t<?xml version=\"1.0\"?>", "\u{feff}<html>",
        "\u{feff} \u{a0}<p>",
        "<", String(repeating: " ", count: 300_000) + "<html>", "<" + String(repeating: "x", count: 300_000),
    ])
    func `A web page is no delivery, whatever its status says`(page: String) throws {
        let endpoint = try ScriptedEndpoint {
            .answer($0.body.isEmpty ? 204 : 200, $0.body.isEmpty ? "" : page, headers: [])
        }
        defer { endpoint.close() }
        let owner = try HTTPOwner(HTTPSettings(for: endpoint))
        #expect(owner.post(1))
        #expect(eventually { owner.failures.count >= 2 })
        #expect(Set(owner.failures.map(\.description)) == [HTTPFailure.page.description])
        #expect(owner.taken.isEmpty)
        endpoint.reply { _ in .answer(200, "[]", headers: ["Content-Type: text/html"]) }
        #expect(eventually { owner.taken == [1] })
    }

    @Test(arguments: ["[]", "{}", "", "ok", "\u{feff}[]", "a < b", "\"<\""])
    func `Another body is a delivery, also if the header calls it a web page`(body: String) throws {
        let endpoint = try ScriptedEndpoint { _ in .answer(200, body, headers: ["Content-Type: text/html"]) }
        defer { endpoint.close() }
        let owner = try HTTPOwner(HTTPSettings(for: endpoint))
        #expect(owner.post(1))
        #expect(eventually { owner.taken == [1] })
        #expect(owner.failures.isEmpty)
    }

    // MARK: - Servers that take no empty message

    @Test(arguments: [
        ScriptedEndpoint.Reply.hangUp, .silence, .status(500), .status(503), .answer(200, "<html>", headers: []),
    ])
    func `A server that does not take the empty message is tried with the first real one`(
        reply: ScriptedEndpoint.Reply
    ) throws {
        let endpoint = try ScriptedEndpoint { $0.body.isEmpty ? reply : .status(200) }
        defer { endpoint.close() }
        var settings = HTTPSettings(for: endpoint)
        settings.limits.greeting = .milliseconds(100)
        let owner = try HTTPOwner(settings)
        // Without a message the server is asked for one.
        #expect(eventually { owner.events.contains(.wantsMessage) })
        #expect(!owner.events.contains(.reached))
        for token in 1...3 { #expect(owner.post(Int64(token))) }
        #expect(eventually { owner.taken == [1, 2, 3] })
        #expect(owner.events.contains(.reached))
        #expect(endpoint.messages.map(\.text) == (1...3).map { "{\"n\":\($0)}" })
    }

    @Test func `A server that takes neither the empty message nor others costs none, and gets all later`() throws {
        let endpoint = try ScriptedEndpoint { _ in .hangUp }
        defer { endpoint.close() }
        let owner = try HTTPOwner(HTTPSettings(for: endpoint))
        for token in 1...3 { #expect(owner.post(Int64(token))) }
        #expect(eventually { owner.failures.count >= 12 })
        #expect(!owner.events.contains(.reached))
        #expect(owner.taken.isEmpty && owner.refused.isEmpty && owner.aside.isEmpty)
        endpoint.reply { _ in .status(200) }
        #expect(eventually { owner.taken == [1, 2, 3] })
    }

    // MARK: - One message that is not accepted

    @Test(arguments: [ScriptedEndpoint.Reply.status(500), .status(403), .hangUp, .answer(200, "<html>", headers: [])])
    func `A message that alone is not accepted steps aside when a later one was accepted`(
        reply: ScriptedEndpoint.Reply
    ) throws {
        let endpoint = try ScriptedEndpoint { $0.text == "{\"n\":1}" ? reply : .status(200) }
        defer { endpoint.close() }
        let owner = try HTTPOwner(HTTPSettings(for: endpoint))
        for token in 1...3 { #expect(owner.post(Int64(token))) }
        #expect(eventually { owner.taken == [2, 3] })
        #expect(owner.aside == [1])
        #expect(owner.refused.isEmpty)
        // Six attempts, the next message between, and one more: the server accepts others and still not this one.
        #expect(
            endpoint.messages.map(\.text).map { $0.filter(\.isNumber) } == [
                "1", "1", "1", "1", "1", "1", "2", "1", "3",
            ])
    }

    @Test func `The queue is bounded`() throws {
        let place = try LoopbackPort.Listener(listens: false)
        var settings = HTTPSettings(quick: "http://127.0.0.1:\(place.port)/pub")
        settings.limits.queue = 3
        let owner = try HTTPOwner(settings)
        #expect((1...5).map { owner.post($0) } == [true, true, true, false, false])
    }

    @Test func `Stopping lets what waits be posted`() throws {
        let endpoint = try ScriptedEndpoint()
        defer { endpoint.close() }
        let owner = try HTTPOwner(HTTPSettings(for: endpoint))
        #expect(eventually { owner.events == [.reached] })
        for token in 1...10 { #expect(owner.post(Int64(token))) }
        #expect(owner.connection.stop(within: .seconds(60)))
        #expect(owner.taken == Array(1...10))
    }

    @Test func `Stopping does not wait for a server that does not answer`() throws {
        let endpoint = try ScriptedEndpoint { $0.body.isEmpty ? .status(200) : .silence }
        defer { endpoint.close() }
        var settings = HTTPSettings(for: endpoint)
        settings.limits.request = .seconds(600)
        let owner = try HTTPOwner(settings)
        #expect(owner.post(1))
        #expect(eventually { endpoint.messages.count == 1 })
        // It waits for three quarters of this, and then gives the request up.
        #expect(owner.connection.stop(within: .seconds(12)))
        #expect(owner.taken.isEmpty)
    }

    @Test func `Stopping ends a wait for the next attempt`() throws {
        let place = try LoopbackPort.Listener(listens: false)
        var settings = HTTPSettings(url: "http://127.0.0.1:\(place.port)/pub")
        settings.limits.firstRetryDelay = .seconds(60)
        let owner = try HTTPOwner(settings)
        #expect(eventually { !owner.failures.isEmpty })
        #expect(owner.connection.stop(within: .seconds(20)))
    }

    @Test func `A name without an address is told`() throws {
        let owner = try HTTPOwner(HTTPSettings(quick: "http://no-such-server.invalid/pub"))
        #expect(eventually { !owner.failures.isEmpty })
        guard case .nameNotResolved? = owner.failures.first else {
            Issue.record("\(owner.failures)")
            return
        }
    }

    @Test func `What does not speak HTTP is told`() throws {
        // It answers a request with what no HTTP server says.
        let broker = try ScriptedBroker { _ in .bytes(Array("SSH-2.0-none\r\n".utf8)) }
        defer { broker.close() }
        let owner = try HTTPOwner(HTTPSettings(quick: "http://127.0.0.1:\(broker.port)/pub"))
        #expect(eventually { !owner.failures.isEmpty })
        guard case .broken? = owner.failures.first else {
            Issue.record("\(owner.failures)")
            return
        }
    }

    @Test func `Other protocols than HTTP are not spoken, whatever the address says`() throws {
        let owner = try HTTPOwner(HTTPSettings(quick: "file:///etc/passwd"))
        #expect(eventually { !owner.failures.isEmpty })
        #expect(!owner.events.contains(.reached))
        #expect(owner.answers.isEmpty)
    }
}
