import Base
import Configuration
import JSON
import Testing

/// Addresses for messages over HTTP, and the settings beside them.
@Suite struct EndpointTests {
    private func read(_ members: String) throws -> Configuration {
        try Configuration(parsing: "{mode: 3, \(members)}".utf8, hostName: "pi", files: .named)
    }

    @Test(
        arguments: [
            ("http://recorder/pub", "http://recorder/pub", "http://recorder"),
            (
                "https://recorder.lan:8443/pub?u=jane&d=hall", "https://recorder.lan:8443/pub?u=jane&d=hall",
                "https://recorder.lan:8443"
            ),
            ("HTTPS://Recorder.lan/Pub#top", "https://Recorder.lan/Pub", "https://Recorder.lan"),
            ("http://[fe80::1]:80", "http://[fe80::1]:80", "http://[fe80::1]:80"),
            ("http://h?x=/@", "http://h?x=/@", "http://h"), ("http://jané:x@h/", "http://h/", "http://h"),
        ])
    func `An address is a scheme, a host and what follows, without its login`(text: String, url: String, origin: String)
        throws
    {
        let endpoint = try #require(Endpoint(text))
        #expect(endpoint.url == url)
        #expect(endpoint.origin == origin)
    }

    @Test(
        arguments: [
            "", "recorder/pub", "ftp://h/", "file:///etc/passwd", "http:/h", "http://", "http:///pub", "http://:80/",
            "http://h:/", "http://h:0/", "http://h:65536/", "http://h:8x/", "http://h /", "http://h/\r\nX: y",
            "http://[]/", "http://h]/", "http://u%zz@h/", "http://u%00@h/", "http://h\\@evil/",
        ])
    func `What is no address of HTTP is none`(text: String) {
        #expect(Endpoint(text) == nil)
    }

    @Test func `A login may stand in the address, and is shown nowhere`() throws {
        let configuration = try read("url: 'https://jane:p%40ss%3Aw@h/pub'")
        let login = try #require(configuration.broker.login)
        #expect((login.user, login.password.revealed) == ("jane", "p@ss:w"))
        #expect(configuration.shown["url"] == "https://jane:(hidden)@h/pub")
        #expect(configuration.holdsSecret)
        #expect(!"\(configuration)".contains("p@ss:w"))
        #expect(configuration.broker.name == "https://h")
    }

    @Test func `The password beside the address goes before that in it, and without any there is no login`() throws {
        let beside = try read("url: 'http://a:b@h/', username: 'jane', password: 'p'").broker.login
        #expect((beside?.user, beside?.password.revealed) == ("jane", "p"))
        #expect(try read("url: 'http://h/', username: 'jane'").broker.login == nil)
        #expect(try read("url: 'http://h/', username: 'jane', password: 'p', auth: false").broker.login == nil)
    }

    @Test func `A hidden password is not taken back, and what is wrong with an address is not shown`() {
        for url in ["http://jane:(hidden)@h/", "http://jane:hunter2@h:x/"] {
            let error = #expect(throws: ConfigurationError.self) { try read("url: '\(url)'") }
            #expect(error?.problems.map(\.member) == ["url"])
            #expect(error?.description.contains("hunter2") == false)
        }
    }

    @Test func `In HTTP mode port 0 is not offline, and WebSockets do not matter`() throws {
        let configuration = try read("url: 'http://h/', port: 0, ws: true")
        #expect(!configuration.broker.isOffline)
    }

    @Test func `In MQTT mode the address does not matter, whatever it is`() throws {
        for url in ["''", "'nonsense'", "5", "'http://jane:p@h/'"] {
            let configuration = try Configuration(parsing: "{mode: 0, url: \(url)}".utf8, hostName: "pi")
            #expect(configuration == Configuration.defaults(hostName: "pi"))
        }
    }

    @Test func `What needs an MQTT broker is off in HTTP mode, with a warning for whom it was on`() throws {
        #expect(try read("url: 'http://h/'").warnings == [])
        #expect(try read("url: 'http://h/'").rooms == nil)
        let both = try read("url: 'http://h/', homeAssistant: {discovery: true}, rooms: {site: 'x'}")
        #expect(both.warnings.map(\.member) == ["homeAssistant", "rooms"])
        #expect(!both.homeAssistant.discovery)
        #expect(both.rooms == nil)
        #expect(try read("url: 'http://h/', httpHeaders: 'A: b'").warnings.map(\.member) == ["httpHeaders"])
    }

    @Test(arguments: ["username: 'a\\nb'", "deviceId: 'a\\rb', pubTopicBase: 'a/b/c'"])
    func `A line end cannot get into the headers`(member: String) {
        let error = #expect(throws: ConfigurationError.self) {
            try read("url: 'http://h/', \(member), pubTopicBase: 'a/b/c'")
        }
        #expect(error?.description.contains("control character") == true, "\(error?.description ?? "")")
    }

    @Test func `Settings over HTTP that are shown load back to the same settings`() throws {
        let configuration = try read("url: 'https://h:1/p?x=1', username: 'jane', passwordFile: 'p', caFile: 'ca'")
        let again = try Configuration(parsing: configuration.shown.bytes, hostName: "elsewhere", files: .named)
        #expect(again == configuration)
    }

    // MARK: - From afar

    private func apply(_ changes: String, to current: String) throws -> Configuration {
        try RemoteSettings(
            applying: JSONValue(parsing: "{_type: 'configuration', \(changes)}", dialect: .json5),
            to: JSONValue(parsing: current, dialect: .json5), hostName: "pi"
        ).configuration
    }

    @Test func `From afar, a password does not go to another address, and a new address brings its own`() throws {
        let file = "{mode: 3, url: 'https://h/a', username: 'jane', password: 'p'}"
        #expect(try apply("tag: 'x'", to: file).broker.login?.password.revealed == "p")
        #expect(try apply("url: 'https://h/b'", to: file).broker.login == nil)
        #expect(try apply("url: 'https://ann:q@h/b'", to: file).broker.login?.password.revealed == "q")
        #expect(
            try apply("mode: 0, tls: null", to: "{mode: 3, url: 'http://h/', username: 'u', password: 'p'}").broker
                .password == .absent)
        #expect(try apply("mode: 3, url: 'http://h/'", to: "{username: 'u', password: 'p'}").broker.login == nil)
    }

    @Test(
        arguments: [
            ("url: 'http://h/'", "{mode: 3, url: 'https://h/'}"), ("mode: 0", "{mode: 3, url: 'https://h/'}"),
            ("mode: 3, url: 'http://h/'", "{tls: true}"),
        ])
    func `From afar, nothing leads away from TLS`(changes: String, file: String) {
        let error = #expect(throws: ConfigurationError.self) { try apply(changes, to: file) }
        #expect(error?.description.contains("turns off TLS") == true)
    }

    @Test func `From afar, TLS may go on elsewhere`() throws {
        #expect(try apply("url: 'https://other/'", to: "{mode: 3, url: 'https://h/'}").broker.name == "https://other")
        #expect(try apply("mode: 0", to: "{mode: 3, url: 'https://h/', tls: true}").broker.endpoint == nil)
    }
}
