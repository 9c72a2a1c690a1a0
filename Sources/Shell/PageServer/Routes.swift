import CMicroHTTPD
import Configuration
import JSON

extension StatusServer {
    /// The path at which the token is submitted. It is the only change that does not need a token.
    static let session = "/session"
    /// The path at which a command of this machine asks for a link to the page. It exists at the socket alone.
    static let newLink = "/link"

    /// The longest body that is stored, in bytes. The requests of a page are far shorter than 64 KiB. For the session
    /// the limit is lower, because the client is not authorized yet; a token has at most 256 bytes. Only a POST needs a
    /// body.
    static func longestBody(method: String, path: String) -> Int {
        guard method == "POST" else { return 0 }
        return path == session ? 1024 : 64 * 1024
    }

    /// Answers a complete request.
    func answer(
        _ connection: OpaquePointer, method: String, path: String, _ request: PendingRequest
    ) -> MHD_Result {
        client(of: connection)?.deadline = patienceFromNow
        client(of: connection)?.isIdle = false
        let headers = RequestHeaders(of: connection)
        let response =
            switch method {
            case "GET", "HEAD": read(path, headers, connection)
            case "POST": change(path, request)
            default: text(405, "only GET and POST are supported", [("Allow", "GET, HEAD, POST")])
            }
        guard let response else { return .NO }
        return MHD_queue_response(connection, response.status, response.pointer)
    }

    private func read(_ path: String, _ headers: RequestHeaders, _ connection: OpaquePointer) -> HTTPResponse? {
        if let page = page(path) {
            guard case .refused(let status, let reason) = guardian.mayLoadPage(headers) else { return page }
            return text(status, reason)
        }
        if case .refused(let status, let reason) = guardian.mayRead(headers) { return text(status, reason) }
        switch path {
        case "/status.json": return response(for: .status)
        case "/metrics": return response(for: .metrics)
        case "/events": return events(connection)
        default:
            let request = PageRequest(path: path) { name in
                MHD_lookup_connection_value(connection, .GET_ARGUMENT_KIND, name).map { String(cString: $0) }
            }
            return response(to: source.read(request))
        }
    }

    private func events(_ connection: OpaquePointer) -> HTTPResponse? {
        guard let client = client(of: connection) else { return nil }
        guard streamCount < settings.streamLimit else {
            countRefusal()
            return text(503, "too many clients are watching", [("Retry-After", "30")])
        }
        let stream = EventStream(connection: connection, client: client, feed: feed)
        admit(stream)
        return HTTPResponse(stream: stream)
    }

    /// Refuses an unauthorized request before its body is read, so that a client without the token cannot make the
    /// server store data.
    ///
    /// - Returns: nil if the body must be read.
    func refusal(_ connection: OpaquePointer, method: String, path: String) -> MHD_Result? {
        guard method == "POST" else { return nil }
        client(of: connection)?.deadline = patienceFromNow
        client(of: connection)?.isIdle = false
        let headers = RequestHeaders(of: connection)
        let response: HTTPResponse?
        if case .refused(let status, let reason) = guardian.mayChange(headers, needsToken: path != Self.session) {
            response = text(status, reason)
        } else if (headers.contentLength ?? 0) > Self.longestBody(method: method, path: path) {
            response = text(413, "that is too long")
        } else {
            return nil
        }
        guard let response else { return .NO }
        return MHD_queue_response(connection, response.status, response.pointer)
    }

    private func change(_ path: String, _ request: PendingRequest) -> HTTPResponse? {
        let isSession = path == Self.session
        guard !request.isTooLong else { return text(413, "that is too long") }
        let body: JSONValue
        do {
            body = try JSONValue(parsing: request.body)
        } catch {
            return text(400, "that is not JSON: \(error)")
        }
        if isSession { return session(body) }
        if path == Self.newLink, guardian.isSocket { return response(to: issueLink()) }
        return perform(path, body)
    }

    /// Makes a link to the page for the user of this machine who asks.
    private func issueLink() -> PageAnswer {
        guard let page = link.page else {
            let reason =
                link.obstacle.map { "\($0.text) -> \($0.remedy)" } ?? "see 'http' in the configuration and the log"
            return .refused(status: 422, "no page is served that a link could open: \(reason)")
        }
        return .json([
            "token": .string(link.issue(at: now)), "host": .string(page.host), "port": .integer(Int64(page.port)),
        ])
    }

    /// Checks the token, or that of a link, and returns the token as a cookie that scripts cannot read and other sites
    /// cannot send.
    private func session(_ body: JSONValue) -> HTTPResponse? {
        guard let token = settings.token else { return text(401, "no token is set, so no session can begin") }
        if let candidate = body["link"]?.string {
            guard link.exchange(candidate.utf8, at: now) else {
                return text(
                    401, "this link was used before, or is older than ten minutes; 'status --link' prints a new one")
            }
        } else if !guardian.isToken((body["token"]?.string ?? "").utf8) {
            return text(401, "this is not the token")
        }
        let cookie = "\(settings.cookieName)=\(token); Path=/; Max-Age=31536000; HttpOnly; SameSite=Strict"
        return HTTPResponse(status: 204, type: "text/plain", body: [], headers: [("Set-Cookie", cookie)])
    }

    private func perform(_ path: String, _ body: JSONValue) -> HTTPResponse? {
        guard body.object != nil else { return text(400, "send a JSON object") }
        let answer = source.change(path, body)
        if answer == .done { forgetRenderings() }
        return response(to: answer)
    }

    private func response(to answer: PageAnswer?) -> HTTPResponse? {
        switch answer {
        case .json(let json): HTTPResponse(status: 200, type: "application/json", body: json.bytes)
        case .done: HTTPResponse(status: 204, type: "text/plain", body: [])
        case .refused(let status, let reason): text(status, reason)
        case nil: text(404, "there is nothing here")
        }
    }

    private func text(
        _ status: UInt32, _ text: String, _ headers: [(name: String, value: String)] = []
    ) -> HTTPResponse? {
        HTTPResponse(
            status: status, type: "text/plain; charset=utf-8", body: Array((text + "\n").utf8), headers: headers)
    }
}

extension RequestHeaders {
    init(of connection: OpaquePointer) {
        func value(_ name: String) -> String? {
            MHD_lookup_connection_value(connection, .HEADER_KIND, name).map { String(cString: $0) }
        }
        self.init(
            host: value("Host"), origin: value("Origin"), fetchSite: value("Sec-Fetch-Site"),
            authorization: value("Authorization"), cookie: value("Cookie"), contentType: value("Content-Type"),
            contentLength: value("Content-Length").flatMap { UInt64($0) }, user: client(of: connection)?.user)
    }
}
