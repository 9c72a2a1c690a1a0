import Glibc
import TestSupport
import Testing

/// The status page, its figures and the `status` command over the service itself.
@Suite struct GatewayStatusTests {
    private static let kitchen = #"""
        {"_type":"waypoint","tst":1600000000,"rid":"k","desc":"Kitchen:CA271EAE-5FA8-4E80-8F08-2A302A95A959:1:7"}
        """#

    /// A service without a broker, its page on `port`.
    private func gateway(_ more: String = "waypoints: [\(kitchen)]", page: UInt16) throws -> GatewayProcess {
        let gateway = try GatewayProcess("", port: 0)
        try gateway.configure(page: page, more)
        return gateway
    }

    @Test func `status shows the running service, and says so when there is none`() throws {
        let gateway = try gateway(page: try LoopbackPort.free())
        #expect(try gateway.fails("status").hasPrefix("69 the service does not run"))
        try gateway.start()
        #expect(gateway.says("entered Kitchen"), "\(gateway.log)")
        let text = try gateway.asked("status", until: "radio", "listening", "Kitchen")
        #expect(text.contains("radio") && text.contains("listening") && text.contains("Kitchen"), "\(text)")
        let inside = try gateway.asked("--json", "status", until: "\"inside\":true")
        #expect(inside.contains("\"inside\":true"), "\(inside)")
        let reason = try gateway.asked("status", "--explain", "Kitchen", until: "GIVEN UP AFTER", "hci0", "30 s")
        #expect(reason.contains("GIVEN UP AFTER") && reason.contains("hci0") && reason.contains("30 s"), "\(reason)")
        #expect(try gateway.fails("status", "--explain", "Kitchn").contains("did you mean 'Kitchen'?"))
        #expect(gateway.says("<7>Kitchen: Beacon CA271EAE"), "each transition is explained in the debug log")
        #expect(gateway.stop() == 0)
    }

    @Test func `status needs no page`() throws {
        let gateway = try GatewayProcess(GatewayFixture.quiet, port: 0)
        #expect(try gateway.fails("status").hasPrefix("69 the service does not run"))
        try gateway.start()
        #expect(gateway.says("is running"), "\(gateway.log)")
        #expect(try gateway.asked("status", until: "radio").contains("radio"))
        #expect(gateway.stop() == 0)
        #expect(try gateway.fails("status").hasPrefix("69 the service does not run"))
    }

    @Test func `Another program on the port of the page is sent nothing by status`() throws {
        let page = try LoopbackPort.Listener()
        let gateway = try gateway(page: page.port)
        _ = try gateway.ask("--quiet", "status", "--token")
        #expect(try gateway.fails("status").hasPrefix("69 the service does not run"))
        var request = pollfd(fd: page.descriptor, events: Int16(POLLIN), revents: 0)
        #expect(poll(&request, 1, 0) == 0, "status connected to the port")
    }

    @Test func `A region made on the page is entered like any other, and is gone after its removal`() throws {
        let page = try LoopbackPort.free()
        let gateway = try gateway("", page: page)
        try gateway.start()
        #expect(gateway.says("is running"), "\(gateway.log)")
        let token = try gateway.ask("status", "--token").prefix { $0 != "\n" }
        func post(_ path: String, _ body: String, token: some StringProtocol) throws -> String {
            try run(
                "curl",
                [
                    "-s", "-o", "/dev/null", "-w", "%{http_code}", "http://127.0.0.1:\(page)\(path)", "-d", body,
                    "-H", "Content-Type: application/json", "-H", "Authorization: Bearer \(token)",
                ])
        }
        let body = "{\"tracker\": 0, \"waypoint\": \(Self.kitchen)}"
        #expect(try post("/regions", body, token: "not-the-token-000000") == "401")
        #expect(try post("/regions", body, token: token) == "204")
        #expect(gateway.says("entered Kitchen"), "\(gateway.log)")
        #expect(try gateway.asked("regions", "list", until: "Kitchen").contains("Kitchen"))
        #expect(try post("/regions", #"{"waypoint": {"desc": "X:no-uuid"}}"#, token: token) == "422")
        #expect(try post("/regions/remove", #"{"tracker": 0, "rid": "k"}"#, token: token) == "204")
        #expect(gateway.says("left Kitchen"), "\(gateway.log)")
        #expect(gateway.stop() == 0)
    }

    @Test func `Beyond loopback the service starts only with a token that the user has made`() throws {
        let page = try LoopbackPort.free()
        let gateway = try GatewayProcess("", port: 0)
        try gateway.configure(page: page, host: "0.0.0.0", "waypoints: [\(Self.kitchen)]")
        #expect(try gateway.fails("run").hasPrefix("78 the status page would listen on 0.0.0.0:\(page)"))
        let token = try gateway.ask("--quiet", "status", "--token")
        #expect(try gateway.ask("status", "--token") == token, "it stays")
        try gateway.start()
        #expect(gateway.says("entered Kitchen"), "\(gateway.log)")
        #expect(
            try run("curl", ["-s", "-o", "/dev/null", "-w", "%{http_code}", "http://127.0.0.1:\(page)/status.json"])
                == "401", "without the token nothing is shown")
        #expect(try gateway.asked("status", until: "Kitchen").contains("Kitchen"), "the socket needs no token")
        let named = try gateway.ask("status", "--address", "127.0.0.1:\(page)")
        #expect(named.contains("Kitchen"), "the command knows the token for an address that the user names")
        #expect(gateway.stop() == 0)
        try run("chmod", ["644", gateway.directory.file("state/status-token")])
        #expect(try gateway.fails("run").hasPrefix("78 others can read"))
    }

    @Test func `A status port that is in use does not stop the gateway`() throws {
        let taken = try LoopbackPort.Listener()
        let gateway = try gateway(page: taken.port)
        try gateway.start()
        #expect(gateway.says("Address already in use; it is tried again"), "\(gateway.log)")
        #expect(gateway.says("entered Kitchen"), "\(gateway.log)")
        #expect(gateway.stop() == 0)
    }

    @Test func `The metrics count what happened`() throws {
        let page = try LoopbackPort.free()
        let gateway = try gateway(page: page)
        try gateway.start()
        #expect(gateway.says("entered Kitchen"), "\(gateway.log)")
        let entered = "ibeacon_gateway_transitions_total{event=\"enter\"} 1"
        let metrics = try eventual({ try run("curl", ["-s", "http://127.0.0.1:\(page)/metrics"]) }) {
            $0.contains(entered)
        }
        for line in [
            entered, "ibeacon_gateway_region_inside{", "rid=\"k\"",
            "process_resident_memory_bytes", "process_cpu_seconds_total", "ibeacon_gateway_store_writes_total",
            "ibeacon_gateway_malformed_data_total{kind=\"truncated-event\"} 0",
        ] {
            #expect(metrics.contains(line), "\(line)")
        }
        #expect(gateway.stop() == 0)
    }

    @Test func `The time line goes on where the last run ended`() throws {
        let gateway = try gateway(page: try LoopbackPort.free())
        try gateway.start()
        #expect(gateway.says("entered Kitchen"), "\(gateway.log)")
        #expect(gateway.stop() == 0)
        try gateway.configure(page: try LoopbackPort.free(), "waypoints: [\(Self.kitchen)]", capture: "captures/empty")
        try gateway.start()
        #expect(
            eventually { (try? gateway.ask("--json", "status").contains(#""event":"enter""#)) == true },
            "\(gateway.log)")
        #expect(gateway.stop() == 0)
    }
}

extension GatewayProcess {
    /// A configuration with a page and a recording.
    fileprivate func configure(
        page: UInt16, host: String = "127.0.0.1", _ more: String, capture: String = "stay-and-walk"
    ) throws {
        try directory.write(
            """
            {_type: "configuration", port: 0, username: "jane", deviceId: "hall", http: {listen: "\(host):\(page)"},
             leaveAfter: 30, scanner: {capture: "\(Self.fixtures)/\(capture).btsnoop"}, \(more)}
            """, to: "config.json")
    }

    /// What the command says when it fails, behind its exit code.
    fileprivate func fails(_ words: String...) throws -> String {
        let file = "failure-\(words.joined(separator: "-"))"
        try directory.write("", to: file)
        let process = try ChildProcess(try Self.program, arguments + words, output: directory.file(file))
        let code = process.wait()
        let said = String(decoding: try directory.read(file), as: UTF8.self)
        return "\(code) \(said.dropFirst("ibeacon-gateway: ".count))"
    }
}
