import HTTPMessaging
import TestSupport
import Testing

/// The same over TLS, with authorities and certificates of the test's own.
@Suite struct HTTPSTests {
    private static let server = """
        import http.server, ssl, sys
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(200)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"[]")
        certificate, key, authority = sys.argv[1:4]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        if authority:
            context.load_verify_locations(authority)
            context.verify_mode = ssl.CERT_REQUIRED
        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        print(server.server_port, flush=True)
        server.serve_forever()
        """

    private let directory: TemporaryDirectory
    private let certificates: Certificates
    init() throws {
        directory = try TemporaryDirectory()
        certificates = try Certificates()
    }

    private func serve(_ pair: Certificates.Pair, clientsSignedBy authority: String = "") throws -> ChildProcess {
        let process = try ChildProcess(
            "/usr/bin/python3", ["-c", Self.server, pair.certificate, pair.key, authority],
            output: directory.file("log"))
        guard eventually({ !port.isEmpty }) else { throw SupportError("no server") }
        return process
    }

    /// As the server says.
    private var port: String {
        let log = (try? directory.read("log")).map { String(decoding: $0, as: UTF8.self) } ?? ""
        return log.firstIndex(of: "\n").map { String(log[..<$0]) } ?? ""
    }

    private var settings: HTTPSettings { HTTPSettings(quick: "https://127.0.0.1:\(port)/pub") }

    private func failure(_ settings: HTTPSettings) throws -> HTTPFailure? {
        let owner = try HTTPOwner(settings)
        #expect(eventually { !owner.failures.isEmpty })
        #expect(!owner.events.contains(.reached))
        return owner.failures.first
    }

    @Test func `A server with a certificate of our authority is trusted, and messages pass`() throws {
        let server = try serve(certificates.issue("server"))
        defer { withExtendedLifetime(server) {} }
        var settings = settings
        settings.caFile = certificates.authority
        let owner = try HTTPOwner(settings)
        for token in 1...3 { #expect(owner.post(Int64(token))) }
        #expect(eventually { owner.taken == [1, 2, 3] })
        #expect(owner.failures.isEmpty)
    }

    @Test func `The system's authorities do not know that of the test`() throws {
        let server = try serve(certificates.issue("server"))
        defer { withExtendedLifetime(server) {} }
        guard case .tls(let why)? = try failure(settings) else {
            Issue.record("it is no matter of TLS")
            return
        }
        #expect(why.contains("certificate"), "\(why)")
    }

    @Test(arguments: ["DNS:elsewhere.example", "IP:127.0.0.2"])
    func `A certificate for another host is not accepted`(names: String) throws {
        let server = try serve(certificates.issue("server", names: names))
        defer { withExtendedLifetime(server) {} }
        var settings = settings
        settings.caFile = certificates.authority
        guard case .tls? = try failure(settings) else {
            Issue.record("it is no matter of TLS")
            return
        }
    }

    @Test func `A certificate of the gateway opens a server that asks for one`() throws {
        let server = try serve(certificates.issue("server"), clientsSignedBy: certificates.authority)
        defer { withExtendedLifetime(server) {} }
        var settings = settings
        settings.caFile = certificates.authority
        #expect(try failure(settings) != nil)
        let own = try certificates.issue("gateway")
        (settings.clientCertificateFile, settings.clientKeyFile) = (own.certificate, own.key)
        let owner = try HTTPOwner(settings)
        #expect(owner.post(1))
        #expect(eventually { owner.taken == [1] })
    }

    @Test func `A file of authorities that is not there is named`() throws {
        let server = try serve(certificates.issue("server"))
        defer { withExtendedLifetime(server) {} }
        var settings = settings
        settings.caFile = directory.file("none.pem")
        #expect(try failure(settings)?.description.contains("none.pem") == true)
    }
}
