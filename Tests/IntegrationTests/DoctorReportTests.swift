import Glibc
import JSON
import TestSupport
import Testing

/// `doctor --report` beside a running service whose configuration is full of what must not be told.
@Suite struct DoctorReportTests {
    /// What stands in the configuration, the recording and the machine's name, and must not be in a report.
    private static let secrets = [
        "hunter2", "t0psecret", "jane", "janes-hall", "Spain 2023", "Kitchen", "Scullery", "ca271eae", "CA271EAE",
        "10053",
        "48.87069", "2.34916", "site-of-jane", "demo.btsnoop", "owntracks", "hidden-topic",
    ]
    private static let members = """
        scanner: {capture: "\(GatewayProcess.fixtures)/demo.btsnoop", speed: 1}, username: "jane", password: "hunter2",
        encryptionKey: "t0psecret", deviceId: "janes-hall", room: "Scullery", rooms: {site: "site-of-jane"},
        pubTopicBase: "hidden-topic/jane/hall", lat: 48.87069, lon: 2.34916, tag: "Spain 2023",
        card: {name: "jane", face: "aGk="}, scanDuty: 0.5, adapter: ["00:11:22:aa:bb:cc"],
        waypoints: [{_type: "waypoint", tst: 1600000000, rid: "k", desc: "Kitchen:CA271EAE-5FA8-4E80-8F08-2A302A95A959:1:7"}]
        """

    private static func gateway(page: String) throws -> GatewayProcess {
        let gateway = try GatewayProcess("", port: 0)
        try gateway.directory.write(
            """
            {_type: "configuration", host: "127.0.0.1", port: 0, tid: "jh", http: \(page), \(members)}
            """, to: "config.json")
        return gateway
    }

    private struct Outcome {
        let code: Int32
        let output: String
    }

    private static func report(_ gateway: GatewayProcess, _ options: String...) throws -> Outcome {
        let process = try ChildProcess(
            try GatewayProcess.program,
            gateway.arguments + ["doctor", "--report", gateway.directory.file("report.json")] + options,
            output: gateway.directory.file("doctor"))
        let code = process.wait()
        return Outcome(code: code, output: String(decoding: try gateway.directory.read("doctor"), as: UTF8.self))
    }

    /// Every field is filled or says why it is not.
    private static func check(_ value: JSONValue, _ place: String) {
        switch value {
        case .null, .string(""): Issue.record("\(place) is empty")
        case .object(let members):
            for (name, member) in members { check(member, "\(place).\(name)") }
        case .array(let elements):
            for (index, element) in elements.enumerated() { check(element, "\(place)[\(index)]") }
        default: break
        }
    }

    /// Looks for identities, addresses and secrets, as a reader with grep would.
    private static func checkPrivacy(_ text: String, _ gateway: GatewayProcess) throws {
        var name = [CChar](repeating: 0, count: 256)
        gethostname(&name, name.count - 1)
        let host = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        for secret in secrets + [gateway.directory.path] + (host.utf8.count > 3 ? [host] : []) {
            #expect(!text.contains(secret), "\(secret) is in the report")
        }
        for pattern in [
            // A UUID, six octets of a device's address, an address of IPv4 or IPv6, and a long number of hexadecimal digits.
            "[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}", "([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}",
            "([0-9]{1,3}\\\\.){3}[0-9]{1,3}", "([0-9a-fA-F]{1,4}:){3,7}[0-9a-fA-F]{1,4}", "[0-9a-fA-F]{12,}",
        ] {
            let grep = try ChildProcess(
                "/bin/sh",
                ["-c", "grep -E \"\(pattern)\" '\(gateway.directory.file("report.json"))'"],
                output: gateway.directory.file("found"))
            let code = grep.wait()
            let found = String(decoding: try gateway.directory.read("found"), as: UTF8.self)
            #expect(code == 1, "\(pattern): \(found)")
        }
    }

    @Test func `The report of a running service has every field, and nothing that must not be told`() throws {
        let port = try LoopbackPort.free()
        let gateway = try Self.gateway(page: "{listen: \"127.0.0.1:\(port)\"}")
        try gateway.start()
        #expect(gateway.says("entered Kitchen"), "\(gateway.log)")
        let outcome = try Self.report(gateway, "--duration", "6")
        #expect(outcome.code == 0, "\(outcome.output)")
        let text = String(decoding: try gateway.directory.read("report.json"), as: UTF8.self)
        let report = try JSONValue(parsing: Array(text.utf8))
        Self.check(report, "report")
        try Self.checkPrivacy(text, gateway)
        let service = try #require(report["service"])
        #expect((service["measuredSeconds"]?.asNumber ?? 0) >= 6)
        #expect(service["scanner"] == "capture")
        #expect(service["startSeconds"]?.asNumber != nil)
        #expect(service["processorShare"]?.asNumber != nil)
        #expect((service["memoryMiB"]?.asNumber ?? 0) > 1)
        #expect(service["adapters"]?.array?.first?["reportsPerSecond"]?.asNumber != nil, "\(text)")
        #expect(report["bluetooth"]?["scanDutySetting"] == .number(0.5))
        #expect(report["machine"]?["kernel"]?.string != nil)
        // The service was not disturbed.
        #expect(gateway.stop() == 0)
        let complaints = gateway.log.split(separator: "\n").filter { $0.hasPrefix("<3>") || $0.hasPrefix("<4>") }
        // On a busy machine any turn may take long.
        #expect(complaints.allSatisfy { $0.contains("one turn of the loop took") }, "\(gateway.log)")
    }

    @Test func `Without a service the report says why it has no figures, at once`() throws {
        let gateway = try Self.gateway(page: "null")
        let begin = ContinuousClock.now
        let outcome = try Self.report(gateway)
        #expect(outcome.code == 69, "\(outcome.output)")
        #expect(outcome.output.contains("nothing was measured") && !outcome.output.contains("open an issue"))
        // It measures a service for ten minutes.
        #expect(ContinuousClock.now - begin < .seconds(300))
        let text = String(decoding: try gateway.directory.read("report.json"), as: UTF8.self)
        let report = try JSONValue(parsing: Array(text.utf8))
        Self.check(report, "report")
        try Self.checkPrivacy(text, gateway)
        #expect(report["service"]?["unknown"]?.string?.contains("did not answer") == true)
    }

    @Test func `A file that exists is replaced only with --force`() throws {
        let gateway = try Self.gateway(page: "null")
        try gateway.directory.write("mine", to: "report.json")
        let refused = try Self.report(gateway)
        #expect(refused.code == 73)
        #expect(refused.output.contains("exists; name another file, or replace it with --force"))
        #expect(try gateway.directory.read("report.json") == Array("mine".utf8))
        #expect(try Self.report(gateway, "--force").code == 69, "no service answers")
        #expect(try gateway.directory.read("report.json").first == UInt8(ascii: "{"))
    }

    @Test(arguments: [["--duration", "5"], ["--force"]])
    func `Options of the report without a report are a mistake`(options: [String]) throws {
        let gateway = try Self.gateway(page: "null")
        let process = try ChildProcess(
            try GatewayProcess.program, gateway.arguments + ["doctor"] + options,
            output: gateway.directory.file("doctor"))
        #expect(process.wait() == 64)
    }
}
