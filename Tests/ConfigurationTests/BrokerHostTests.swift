import JSON
import Testing

@testable import Configuration

/// `host` as people write it.
@Suite struct BrokerHostTests {
    private struct Row {
        let text: String
        var name = "broker.lan"
        var port: Int?
        var tls: Bool?
    }

    @Test func `A name, an address, a scheme, a port, brackets and blanks around it are read`() throws {
        let rows = [
            Row(text: "broker.lan"), Row(text: "  broker.lan\t"), Row(text: "broker.lan:1884", port: 1884),
            Row(text: "mqtt://broker.lan", tls: false), Row(text: "tcp://broker.lan:1883/", port: 1883, tls: false),
            Row(text: "mqtts://broker.lan", tls: true), Row(text: "MQTTS://broker.lan:8883", port: 8883, tls: true),
            Row(text: "ssl://broker.lan/", tls: true), Row(text: "tls://broker.lan", tls: true),
            Row(text: "::1", name: "::1"), Row(text: "[::1]", name: "::1"),
            Row(text: "[fd00::7]:1884", name: "fd00::7", port: 1884),
            Row(text: "mqtt://[::1]:1883", name: "::1", port: 1883, tls: false),
            Row(text: "192.168.1.2:1883", name: "192.168.1.2", port: 1883),
        ]
        for row in rows {
            let host = try BrokerHost(row.text)
            #expect(host.name == row.name && host.port == row.port && host.tls == row.tls, "\(row.text)")
        }
    }

    @Test(arguments: [
        ("ws://broker.lan", "WebSockets"), ("wss://broker.lan:443/mqtt", "WebSockets"), ("http://broker.lan", "HTTP"),
        ("amqp://broker.lan", "'amqp://' is not known"), ("mqtt://jane:secret@broker.lan", "login"),
        ("broker.lan/mqtt", "path"), ("broker lan", "blank"), ("", "no name"), ("  ", "no name"), (":1883", "no name"),
        ("mqtt://", "no name"), ("broker.lan:0", "not a port"), ("broker.lan:65536", "not a port"),
        ("broker.lan:", "not a port"), ("broker.lan:x", "not a port"), ("[::1", "bracket"), ("[::1]x", "bracket"),
    ])
    func `Anything else is refused with what is wrong`(text: String, words: String) {
        let error = #expect(throws: BrokerHost.Problem.self) { try BrokerHost(text) }
        #expect(error?.reason.contains(words) == true, "\(error?.reason ?? "")")
        #expect(error?.reason.contains("secret") == false)
    }

    private func read(_ members: String) throws -> Configuration {
        try Configuration(parsing: "{\(members)}".utf8, hostName: "pi")
    }

    @Test func `Scheme and port of the host count as if they were set`() throws {
        let broker = try read(#"host: "mqtts://broker.lan""#).broker
        #expect(broker.hosts == ["broker.lan"] && broker.tls && broker.port == 8883)
        let other = try read(#"host: "broker.lan:1884""#).broker
        #expect(!other.tls && other.port == 1884)
        let list = try read(#"host: ["a:1884", " b:1884 "]"#).broker
        #expect(list.hosts == ["a", "b"] && list.port == 1884)
    }

    @Test(arguments: [
        #"host: "broker.lan:1884", port: 1883"#, #"host: "mqtts://broker.lan", tls: false"#,
        #"host: ["a:1883", "b:1884"]"#, #"host: ["mqtts://a", "b"]"#, #"host: "ws://a""#,
    ])
    func `What contradicts itself is refused by the name of the setting`(members: String) {
        let error = #expect(throws: ConfigurationError.self) { try read(members) }
        #expect(error?.problems.map(\.member) == ["host"])
    }

    @Test(arguments: [
        ("port: 8883", ["tls"]), ("port: 8883, tls: true", []), ("port: 1883", []),
        ("port: 8883, username: \"jane\", password: \"pw\"", ["tls"]),
        ("username: \"jane\", password: \"pw \"", ["password"]), ("username: \"jane\", password: \"p w\"", []),
    ])
    func `The port for TLS without TLS, and a blank around a password, are remarked on`(
        members: String, remarks: [String]
    ) throws {
        let configuration = try read(members)
        #expect(configuration.warnings.map(\.member) == remarks)
        #expect(configuration.warnings.allSatisfy { !"\($0)".contains("pw") })
        let mentionsPassword = configuration.warnings.contains { "\($0)".contains("password") }
        #expect(mentionsPassword == (!remarks.isEmpty && members.contains("password")))
    }
}
