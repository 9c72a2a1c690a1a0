package import Base
import CCurl
import System

/// Posts messages one after another, on connections that are kept open. One thread uses it.
package struct HTTPClient: ~Copyable {
    private let curl: curl_functions
    private let multi: UnsafeMutableRawPointer
    private let easy: UnsafeMutableRawPointer
    private let incoming: IncomingAnswer
    private let words: UnsafeMutablePointer<CChar>

    /// - Throws: without libcurl, or if the settings cannot be used.
    package init(_ settings: HTTPSettings) throws(HTTPFailure) {
        let curl = try CurlLibrary.load()
        guard let multi = curl.multi_init() else { throw .settings("libcurl is out of memory") }
        guard let easy = curl.easy_init() else {
            _ = curl.multi_cleanup(multi)
            throw .settings("libcurl is out of memory")
        }
        let incoming = IncomingAnswer(limit: settings.limits.answer)
        let words = UnsafeMutablePointer<CChar>.allocate(capacity: Int(curl_error_size))
        words.initialize(repeating: 0, count: Int(curl_error_size))
        do {
            try Self.apply(settings, to: easy, curl)
            try Self.prepare(easy, curl, incoming, words)
        } catch {
            curl.easy_cleanup(easy)
            _ = curl.multi_cleanup(multi)
            words.deallocate()
            throw error
        }
        self.init(curl: curl, multi: multi, easy: easy, incoming: incoming, words: words)
    }

    /// Separate from the throwing initialiser: if an initialiser throws, Swift 6.2 destroys properties with an initial
    /// value twice.
    private init(
        curl: curl_functions, multi: UnsafeMutableRawPointer, easy: UnsafeMutableRawPointer,
        incoming: IncomingAnswer, words: UnsafeMutablePointer<CChar>
    ) {
        self.curl = curl
        self.multi = multi
        self.easy = easy
        self.incoming = incoming
        self.words = words
    }

    deinit {
        // libcurl may still write into the answer and the error text.
        withExtendedLifetime(incoming) {
            curl.easy_cleanup(easy)
            _ = curl.multi_cleanup(multi)
        }
        words.deallocate()
    }

    /// Posts a message and waits for the answer.
    ///
    /// - Parameters:
    ///   - bell: A descriptor that becomes readable when `deadline` may have changed.
    ///   - deadline: When to give up; nil: the limits of the settings apply.
    /// - Returns: nil if the transfer was given up.
    package mutating func post(
        _ message: [UInt8], by sender: HTTPSender, bell: Int32 = -1, until deadline: () -> MonotonicInstant? = { nil }
    ) throws(HTTPFailure) -> HTTPAnswer? {
        incoming.begin()
        words[0] = 0
        let headers = try headers(for: sender)
        defer { curl.list_free(headers) }
        let settings: [Int32] = [
            set(curl_option_headers, headers), set(curl_option_body_size, message.count), setBody(message),
        ]
        guard settings.allSatisfy({ $0 == curl_ok }) else { throw .settings("libcurl refuses this message") }
        guard curl.multi_add(multi, easy) == curl_ok else { throw .settings("libcurl refuses this request") }
        defer { _ = curl.multi_remove(multi, easy) }
        guard let result = try transfer(bell, deadline) else { return nil }
        let status = curl_status(curl.get_info, easy)
        return try answer(status, result)
    }

    private func answer(_ status: Int, _ result: Int32) throws(HTTPFailure) -> HTTPAnswer {
        // The rest of a body that is too large is not read, and the status of the answer is valid.
        let pause = incoming.retryAfter.pause
        if result == curl_write_error, let excess = incoming.excess, status > 0 {
            return HTTPAnswer(status: status, excess: excess, isPage: incoming.isPage, retryAfter: pause)
        }
        guard result == curl_ok else { throw failure(result) }
        return HTTPAnswer(status: status, body: incoming.bytes, isPage: incoming.isPage, retryAfter: pause)
    }

    /// Runs the transfer to its end.
    ///
    /// - Returns: libcurl's result; nil if the transfer was given up.
    private func transfer(_ bell: Int32, _ deadline: () -> MonotonicInstant?) throws(HTTPFailure) -> Int32? {
        while true {
            var running: Int32 = 0
            guard curl.multi_perform(multi, &running) == curl_ok else { throw .broken("libcurl gave up") }
            var left: Int32 = 0
            while let message = curl.multi_next_message(multi, &left) {
                if message.pointee.kind == curl_message_done { return message.pointee.data.result }
            }
            let end = deadline()
            if let end, end <= Clocks.now() { return nil }
            // libcurl has its own time limits.
            let wait = min(.seconds(60), end.map { Clocks.now().duration(to: $0) } ?? .seconds(60))
            var watched = curl_watched(descriptor: bell, events: Int16(curl_watch_readable), happened: 0)
            _ = curl.multi_poll(multi, &watched, bell < 0 ? 0 : 1, Int32(clamping: wait.wholeMilliseconds), nil)
            // A pending wake-up would wake the loop for ever. `deadline` clears it.
        }
    }

    // MARK: - Settings

    private static func apply(
        _ settings: HTTPSettings, to easy: UnsafeMutableRawPointer, _ curl: curl_functions
    ) throws(HTTPFailure) {
        var setter = Setter(curl: curl, easy: easy)
        // No redirect, which would receive the login, and no other protocol than the settings name.
        setter.number(curl_option_protocols, Int(curl_http_and_https))
        setter.number(curl_option_follow_redirects, 0)
        setter.text(curl_option_url, settings.url, "url")
        setter.number(curl_option_verify_peer, 1)
        setter.number(curl_option_verify_host, 2)
        if let file = settings.caFile {
            setter.text(curl_option_ca_file, file, "caFile")
            // Otherwise the system's certificates would be trusted too.
            setter.text(curl_option_ca_directory, nil, "caFile")
        }
        if let file = settings.clientCertificateFile {
            setter.text(curl_option_client_certificate, file, "clientCertificateFile")
        }
        if let file = settings.clientKeyFile { setter.text(curl_option_client_key, file, "clientKeyFile") }
        if let password = settings.password {
            setter.number(curl_option_authentication, Int(curl_basic))
            setter.text(curl_option_username, settings.username ?? "", "username")
            setter.text(curl_option_password, password.revealed, "password")
        }
        setter.text(curl_option_user_agent, settings.userAgent, "user agent")
        setter.number(curl_option_connect_timeout_ms, Int(settings.limits.connecting.wholeMilliseconds))
        setter.number(curl_option_timeout_ms, Int(settings.limits.request.wholeMilliseconds))
        if let refused = setter.refused { throw .settings("libcurl refuses \(refused)") }
    }

    private static func prepare(
        _ easy: UnsafeMutableRawPointer, _ curl: curl_functions, _ incoming: IncomingAnswer,
        _ words: UnsafeMutablePointer<CChar>
    ) throws(HTTPFailure) {
        var setter = Setter(curl: curl, easy: easy)
        setter.number(curl_option_post, 1)
        setter.number(curl_option_http_version, Int(curl_http_1_1))
        // Only the event loop handles signals.
        setter.number(curl_option_no_signal, 1)
        // Only newer versions have this option. With it, libcurl does not wait for a name look-up at the end.
        _ = curl_set_number(curl.set_option, easy, Int32(curl_option_quick_exit), 1)
        let results = [
            curl_set_pointer(curl.set_option, easy, Int32(curl_option_error_buffer), words),
            curl_set_receivers(
                curl.set_option, easy, receiveAnswer, receiveHeader, Unmanaged.passUnretained(incoming).toOpaque()),
        ]
        guard setter.refused == nil, results.allSatisfy({ $0 == curl_ok }) else {
            throw .settings("libcurl refuses the settings of a request")
        }
    }

    private func headers(for sender: HTTPSender) throws(HTTPFailure) -> UnsafeMutableRawPointer {
        var list: UnsafeMutableRawPointer?
        for line in [
            "Content-Type: application/json", "X-Limit-U: \(sender.user)", "X-Limit-D: \(sender.device)",
            // Without "Expect: 100-continue", which libcurl adds for large messages.
            "Expect:",
        ] {
            guard let longer = curl.list_append(list, line) else {
                curl.list_free(list)
                throw .settings("libcurl is out of memory")
            }
            list = longer
        }
        guard let list else { throw .settings("libcurl is out of memory") }
        return list
    }

    private func set(_ option: Int, _ pointer: UnsafeMutableRawPointer) -> Int32 {
        curl_set_pointer(curl.set_option, easy, Int32(option), pointer)
    }

    private func set(_ option: Int, _ number: Int) -> Int32 {
        curl_set_number(curl.set_option, easy, Int32(option), number)
    }

    /// libcurl copies the body. Its size is set before.
    private func setBody(_ message: [UInt8]) -> Int32 {
        (message + [0]).withUnsafeBytes { bytes in
            curl_set_text(
                curl.set_option, easy, Int32(curl_option_copied_body),
                bytes.baseAddress?.assumingMemoryBound(to: CChar.self))
        }
    }

    // MARK: - Failures

    private func failure(_ code: Int32) -> HTTPFailure {
        let why = words[0] != 0 ? String(cString: words) : curl.describe(code).map { String(cString: $0) } ?? "\(code)"
        switch Int(code) {
        case curl_proxy_not_resolved, curl_host_not_resolved: return .nameNotResolved(why)
        case curl_not_connected: return .unreachable(why)
        case curl_timed_out: return .silent
        case curl_url_malformed: return .settings(why)
        case curl_tls_handshake_failed, curl_tls_engine_missing, curl_certificate_unusable, curl_tls_cipher,
            curl_peer_not_verified, curl_ca_file_unusable, curl_tls_issuer, curl_client_certificate_wanted:
            return .tls(why)
        default: return .broken(why)
        }
    }
}

/// Sets options, and records the first that libcurl refused.
private struct Setter {
    let curl: curl_functions
    let easy: UnsafeMutableRawPointer
    private(set) var refused: String?

    mutating func number(_ option: Int, _ value: Int) {
        let result = curl_set_number(curl.set_option, easy, Int32(option), value)
        if result != curl_ok { refused = refused ?? "option \(option)" }
    }

    mutating func text(_ option: Int, _ text: String?, _ name: String) {
        let result = curl_set_text(curl.set_option, easy, Int32(option), text)
        if result != curl_ok { refused = refused ?? name }
    }
}

/// The answer that is being received. libcurl writes into it while the client's thread is inside libcurl.
private final class IncomingAnswer {
    private(set) var retryAfter = RetryAfter()
    /// The body.
    private(set) var bytes: [UInt8] = []
    /// Received bytes when the body became too large.
    private(set) var excess: Int?
    private var markup = MarkupDetector()
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// More blanks than an answer may have are no answer either.
    var isPage: Bool { markup.isMarkup || (excess != nil && markup.isBlank) }

    func begin() { (retryAfter, bytes, excess, markup) = (RetryAfter(), [], nil, MarkupDetector()) }

    /// Reads a line of the header.
    func readHeader(_ line: UnsafeRawBufferPointer) { retryAfter.read(line) }

    /// - Returns: false if the body is too large.
    func append(_ data: UnsafeRawBufferPointer) -> Bool {
        markup.read(data)
        guard bytes.count + data.count <= limit else {
            excess = bytes.count + data.count
            bytes = []
            return false
        }
        bytes += data
        return true
    }
}

/// libcurl's callback. A return value that differs from the given count ends the transfer.
private func receiveAnswer(
    _ data: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context else { return 0 }
    let incoming = Unmanaged<IncomingAnswer>.fromOpaque(context).takeUnretainedValue()
    return incoming.append(UnsafeRawBufferPointer(start: data, count: size * count)) ? size * count : 0
}

/// libcurl's callback, for each line of the header.
private func receiveHeader(
    _ data: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context else { return 0 }
    Unmanaged<IncomingAnswer>.fromOpaque(context).takeUnretainedValue()
        .readHeader(UnsafeRawBufferPointer(start: data, count: size * count))
    return size * count
}

extension Duration {
    /// Rounded up, so that `poll` does not return too early.
    fileprivate var wholeMilliseconds: Int64 { (nanoseconds + 999_999) / 1_000_000 }
}
