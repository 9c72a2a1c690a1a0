import Glibc
import TestSupport
import Testing

/// The first ten minutes, against a real broker and with a recording for a radio.
@Suite struct SetupTests {
    private static let beacon = "CA271EAE-5FA8-4E80-8F08-2A302A95A959:1:7"
    private static let other = "CA271EAE-5FA8-4E80-8F08-2A302A95A959:1:8"

    /// A machine that has no configuration yet.
    private struct Machine {
        let directory: TemporaryDirectory

        init() throws { directory = try TemporaryDirectory() }

        /// The option for a radio that is a recording of two beacons.
        func radio() throws -> [String] {
            var air = BeaconScript()
            air.advertise(7, from: 0, to: 1, level: -50)
            air.advertise(8, from: 0, to: 1, level: -70)
            try air.write(to: directory.file("air.btsnoop"))
            return ["--scanner", directory.file("air.btsnoop")]
        }

        /// Options for a beacon of this radio. It is listened to until it ends, after a second, or later on a busy machine.
        func recording() throws -> [String] { try radio() + ["--listen", "60"] }

        var arguments: [String] {
            ["--config", directory.file("etc/config.json"), "--state-dir", directory.file("state")]
        }

        func setUp(_ options: [String]) throws -> (code: Int32, text: String) {
            let process = try ChildProcess(
                try GatewayProcess.program, arguments + ["setup"] + options, output: directory.file("said"))
            let code = process.wait()
            return (code, String(decoding: try directory.read("said"), as: UTF8.self))
        }

        func file(_ name: String) -> String {
            String(decoding: (try? directory.read("etc/\(name)")) ?? [], as: UTF8.self)
        }

        func mode(_ name: String) -> mode_t {
            var information = stat()
            return stat(directory.file("etc/\(name)"), &information) == 0 ? information.st_mode & 0o777 : 0
        }
    }

    @Test func `Without questions: from nothing to an enter at the broker`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let witness = try Subscriber(to: broker, topic: "owntracks/+/+/event")
        let machine = try Machine()
        let (code, text) = try machine.setUp(
            [
                "--yes", "--host", "127.0.0.1", "--port", "\(broker.port)", "--room", "Living room", "--beacon",
                "strongest",
            ]
                + ["--region", "Keys"] + machine.recording())
        #expect(code == 0, "\(text)")
        #expect(text.contains("Made the region Keys."))
        #expect(machine.file("config.json").contains(#"room: "Living room","#), "the room as people call it")
        #expect(
            text.contains(
                "Who comes and goes will be published on owntracks/user/living-room/event, once the service runs with these "
                    + "settings."), "nothing runs yet: \(text)")
        #expect(text.contains("\nIts page:    http://127.0.0.1:8080/\n") && text.contains("ok   radio"), "\(text)")
        #expect(!text.contains("The service runs"), "no service manager has it")
        let gateway = try ChildProcess(
            try GatewayProcess.program, machine.arguments + ["run"], output: machine.directory.file("log"))
        #expect(
            eventually(within: .seconds(180)) {
                witness.lines.contains {
                    $0.topic == "owntracks/user/living-room/event" && $0.text.contains("\"Keys\"")
                }
            }, "\(String(decoding: (try? machine.directory.read("log")) ?? [], as: UTF8.self))")
        gateway.send(SIGTERM)
        #expect(gateway.wait() == 0)
    }

    @Test func `At a terminal: a login that the broker wants, the strongest beacon, a file for the password`() throws {
        let directory = try TemporaryDirectory()
        try run("mosquitto_passwd", ["-b", "-c", directory.file("passwords"), "jane", "top secret"])
        let broker = try MosquittoBroker(
            ["allow_anonymous false", "password_file \(directory.file("passwords"))"], in: directory)
        defer { broker.stop() }
        let machine = try Machine()
        let person = try TerminalConversation(
            try GatewayProcess.program, machine.arguments + ["setup", "--port", "\(broker.port)"] + machine.recording())
        #expect(person.answer("MQTT broker", "127.0.0.1"), "\(person.screen)")
        #expect(person.answer("Which room is this", "Hall"), "\(person.screen)")
        #expect(person.answer("Tracker id, two characters [HA]", ""), "\(person.screen)")
        #expect(person.answer("Try with a user name and password? [Y/n]", ""), "\(person.screen)")
        #expect(person.answer("User name", "jane"), "\(person.screen)")
        #expect(person.answer("Password", "top secret"), "\(person.screen)")
        #expect(person.answer("Should Home Assistant show this gateway and its beacons? [y/N]", ""), "\(person.screen)")
        #expect(person.answer("Where is it, as latitude, longitude", "48,2"), "\(person.screen)")
        #expect(person.answer("'48,2' may be one number or two", "here"), "\(person.screen)")
        #expect(person.answer("Write two numbers in degrees, such", "48.858, 2.294"), "\(person.screen)")
        #expect(person.answer("Name of \(Self.beacon) (empty: none)", "Keys"), "\(person.screen)")
        #expect(person.answer("Does it go where a person goes, as keys do? [y/N]", "maybe"), "\(person.screen)")
        #expect(person.answer("Please answer y or n.", "n"), "\(person.screen)")
        // The recording ends with a beacon of its own.
        #expect(person.answer(":1:65535 (empty: none)", ""), "\(person.screen)")
        #expect(person.answer("Name of \(Self.other) (empty: none)", "Anna's keys"), "\(person.screen)")
        #expect(person.answer("Does it go where a person goes, as keys do? [y/N]", "y"), "\(person.screen)")
        #expect(person.end() == 0, "\(person.screen)")
        #expect(!person.screen.contains("top secret"))
        #expect(machine.file("password") == "top secret\n")
        #expect(!machine.file("config.json").contains("top secret"))
        #expect(machine.file("config.json").contains("username: \"jane\""))
        #expect(machine.mode("password") == 0o640)
        #expect(machine.mode("config.json") == 0o640)
        #expect(machine.file("config.json").contains("lat: 48.858,\n    lon: 2.294,"))
        #expect(machine.file("config.json").contains(#""name":"Anna's keys""#), "\(machine.file("config.json"))")
        let regions = try run(try GatewayProcess.program, machine.arguments + ["regions", "list"])
            .split(separator: "\n")
        #expect(regions.contains { $0.contains("Keys") && $0.contains(" 7 ") })
        #expect(regions.contains { $0.hasPrefix("AK") && $0.contains("Home") && $0.contains(" 8 ") }, "\(regions)")
        // The line that setup shows works as it is, and does not show the password.
        let line = try #require(person.shown.split(whereSeparator: \.isNewline).first { $0.contains("mosquitto_sub") })
        let command = try #require(line.firstRange(of: "mosquitto_sub"))
        #expect(!line.contains("top secret"))
        try run("sh", ["-c", "\(line[command.lowerBound...]) -W 1; test $? = 27"])
    }

    @Test func `Another broker is read like the first one, and gets the login only if the person says so`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        for (isKept, answer) in [(false, ""), (true, "y")] {
            let machine = try Machine()
            let person = try TerminalConversation(
                try GatewayProcess.program,
                machine.arguments + [
                    "setup", "--host", "localhost", "--port", "\(try LoopbackPort.free())", "--username", "jane",
                    "--room",
                    "Hall", "--tid", "HA", "--beacon", "none", "--no-home-assistant", "--lat", "1", "--lon", "2",
                    "--scanner", "x.btsnoop",
                ])
            #expect(person.answer("Password of 'jane' at the broker", "top secret"), "\(person.screen)")
            #expect(person.answer("Try another broker? [Y/n]", ""), "\(person.screen)")
            #expect(person.answer("MQTT broker [localhost]", "wss://broker.lan"), "\(person.screen)")
            #expect(
                person.answer("this broker cannot be used: WebSockets", "mqtt://127.0.0.1:\(broker.port)"),
                "\(person.screen)")
            #expect(
                person.answer("Log in there as 'jane', with the same password? [y/N]", answer), "\(person.screen)")
            #expect(person.end() == 0, "\(person.screen)")
            #expect(!person.shown.contains("Try with a user name"), "nothing answered that could take a login")
            let written = machine.file("config.json")
            #expect(written.contains("host: \"127.0.0.1\"") && written.contains("port: \(broker.port)"), "\(written)")
            #expect(written.contains("jane") == isKept, "\(written)")
            #expect(machine.file("password") == (isKept ? "top secret\n" : ""))
        }
    }

    @Test func `A user name on the command line is asked its password, also if the broker wants none`() throws {
        let machine = try Machine()
        let person = try TerminalConversation(
            try GatewayProcess.program,
            machine.arguments + [
                "setup", "--no-test", "--host", "broker.lan", "--username", "jane", "--room", "Hall", "--tid", "HA",
                "--beacon", "none", "--no-home-assistant", "--lat", "1", "--lon", "2", "--scanner", "x.btsnoop",
            ])
        #expect(person.answer("Password of 'jane' at the broker", "top secret"), "\(person.screen)")
        #expect(person.end() == 0, "\(person.screen)")
        #expect(!person.shown.contains("top secret"))
        #expect(machine.file("password") == "top secret\n")
    }

    @Test(
        arguments: [
            ("homeassistant/sensor/lamp/config", "{}", true, [], true),
            ("homeassistant/sensor/hall/lamp/config", "{}", true, [], true),
            ("homeassistant/status", "online", true, [], true),
            ("homeassistant/status", "offline", true, [], false),
            ("zigbee2mqtt/lamp", "{}", true, [], false),
            ("homeassistant/sensor/lamp/config", "{}", true, ["--no-home-assistant"], false),
            ("zigbee2mqtt/lamp", "{}", true, ["--home-assistant"], true),
        ] as [(String, String, Bool, [String], Bool)])
    func `Home Assistant is recognised by what is retained at the broker`(
        topic: String, payload: String, isRetained: Bool, options: [String], isOn: Bool
    ) throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        try run(
            "mosquitto_pub", ["-p", "\(broker.port)", "-t", topic, "-m", payload] + (isRetained ? ["-r"] : []))
        let machine = try Machine()
        let (code, text) = try machine.setUp(
            ["--yes", "--host", "127.0.0.1", "--port", "\(broker.port)", "--room", "Hall"] + options
                + machine.radio())
        #expect(code == 0, "\(text)")
        #expect(machine.file("config.json").contains("homeAssistant: {\"discovery\":true}") == isOn, "\(text)")
    }

    /// As OwnTracks for Android exports it, shortened.
    private static let phone = """
        {"_type":"configuration","clientId":"janephone","deviceId":"phone","tid":"jp","host":"broker.lan","port":8883,\
        "tls":true,"username":"jane","password":"top secret","pubTopicBase":"owntracks/jane/phone","theme":1,\
        "waypoints":[{"_type":"waypoint","desc":"Home","lat":52.5,"lon":6.25,"rad":100,"rid":"67952e","tst":1708625557},\
        {"_type":"waypoint","desc":"Keys:\(GatewayFixture.uuid):1:7","lat":0,"lon":0,"rad":0,"rid":"b4b412","tst":1700000000}]}
        """

    @Test func `From a phone: broker, login, waypoints and home, and not who the phone is`() throws {
        let machine = try Machine()
        let old = try machine.directory.write(Self.phone, to: "phone.otrc")
        let (code, text) = try machine.setUp(
            ["--yes", "--no-test", "--from", old, "--room", "Hall", "--scanner", "x.btsnoop"])
        #expect(code == 0, "\(text)")
        let written = machine.file("config.json")
        for part in [
            #"host: "broker.lan""#, "port: 8883", "tls: true", #"username: "jane""#, "lat: 52.5", "lon: 6.25",
            #"deviceId: "hall""#,
        ] {
            #expect(written.contains(part), "\(written)")
        }
        for part in ["janephone", "phone\"", "jp", "clientId", "top secret"] {
            #expect(!written.contains(part), "\(written)")
        }
        #expect(machine.file("password") == "top secret\n")
        #expect(text.contains("the phone's own: clientId, deviceId, tid, pubTopicBase"), "\(text)")
        let list = try run(try GatewayProcess.program, machine.arguments + ["regions", "list"])
        #expect(list.contains("Keys") && list.contains("a circle of 100 m"), "\(list)")
    }

    @Test func `With --config-only the waypoints of a phone are not said to be taken`() throws {
        let machine = try Machine()
        let old = try machine.directory.write(Self.phone, to: "phone.otrc")
        let (code, text) = try machine.setUp(["--config-only", "--from", old, "--room", "Hall"])
        #expect(code == 0, "\(text)")
        #expect(
            text.contains("Taken from the phone: the broker broker.lan:8883, the login 'jane', the place of its home."),
            "\(text)")
        #expect(text.contains("Not taken, because --config-only stores no regions: 2 waypoints."), "\(text)")
        let list = try run(try GatewayProcess.program, machine.arguments + ["regions", "list"])
        #expect(list.contains("none yet"), "\(list)")
    }

    @Test(
        arguments: [
            (#"{"_type":"configuration","mode":3,"url":"http://h/p"}"#, "over HTTP"),
            (#"{"_type":"configuration","host":"h","ws":true}"#, "WebSockets"),
            (#"{"_type":"configuration"}"#, "--host"), (#"{"_type":"waypoints","waypoints":[]}"#, "'waypoints'"),
            (#"{"_type":"configuration","host":"wss://h"}"#, "WebSockets"),
        ])
    func `A phone that does not speak MQTT, or another file of it, changes nothing`(file: String, why: String) throws {
        let machine = try Machine()
        let old = try machine.directory.write(file, to: "phone.otrc")
        let (code, text) = try machine.setUp(["--yes", "--no-test", "--from", old])
        #expect(code == 65 && text.contains(why) && text.contains("nothing was written"), "\(text)")
        #expect(machine.file("config.json") == "")
    }

    @Test func `For a playbook: the same again changes nothing, and another needs --force`() throws {
        let machine = try Machine()
        let secret = try machine.directory.write("hush", to: "secret")
        func configure(_ more: [String]) throws -> (code: Int32, text: String) {
            try machine.setUp(
                [
                    "--config-only", "--host", "broker.lan", "--room", "Hall", "--device", "pi-hall", "--username", "u",
                    "--password-file", secret, "--home-assistant",
                ] + more)
        }
        let first = try configure([])
        #expect(first.code == 0 && first.text.contains("Wrote "), "\(first.text)")
        let written = machine.file("config.json")
        #expect(written.contains(#"deviceId: "pi-hall""#) && written.contains(#"room: "Hall""#), "\(written)")
        for options in [[], ["--force"]] {
            let again = try configure(options)
            #expect(again.code == 0 && again.text.contains("is already as wanted"), "\(again.text)")
        }
        #expect(machine.file("config.json.old") == "")
        let other = try configure(["--tid", "XX"])
        #expect(other.code == 73 && machine.file("config.json") == written, "\(other.text)")
        try machine.directory.write("other", to: "secret")
        #expect(
            try configure([]).code == 73 && machine.file("password") == "hush\n",
            "another password is another configuration")
        #expect(try configure(["--force"]).code == 0 && machine.file("password") == "other\n")
        #expect(try run(try GatewayProcess.program, machine.arguments + ["regions", "list"]).contains("none yet"))
        for options in [["--beacon", "strongest"], ["--listen", "3"], ["--keyboard"]] {
            #expect(try configure(options).code == 64, "\(options)")
        }
    }

    @Test(arguments: [-1, 0, 12])
    func `The floor of the room is written where it is given`(floor: Int) throws {
        let machine = try Machine()
        let (code, text) = try machine.setUp(
            ["--config-only", "--host", "broker.lan", "--room", "Cellar", "--floor", "\(floor)"])
        #expect(code == 0, "\(text)")
        #expect(machine.file("config.json").contains("    floor: \(floor),\n"), "\(machine.file("config.json"))")
    }

    @Test func `A broker that cannot be used: nothing is written`() throws {
        let machine = try Machine()
        let port = try LoopbackPort.free()
        let (code, text) = try machine.setUp(["--yes", "--host", "127.0.0.1", "--port", "\(port)", "--room", "Hall"])
        #expect(code == 69)
        #expect(text.contains("Connection refused") && text.contains("nothing was written"))
        #expect(machine.file("config.json") == "")
    }

    @Test func `A user who may not make the directory is told to use sudo`() throws {
        let machine = try Machine()
        chmod(machine.directory.path, 0o555)
        defer { chmod(machine.directory.path, 0o755) }
        // Root may write everywhere.
        let other = geteuid() == 0 ? ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : []
        let words =
            other + [try GatewayProcess.program] + machine.arguments
            + ["setup", "--yes", "--no-test", "--host", "broker.lan"]
        let place = try TemporaryDirectory()
        let process = try ChildProcess(words[0], Array(words.dropFirst()), output: place.file("said"))
        #expect(process.wait() == 77)
        let text = String(decoding: try place.read("said"), as: UTF8.self)
        #expect(text.contains("cannot be written; run: sudo ibeacon-gateway setup"), "\(text)")
    }

    @Test func `A phone whose name is impossible is found before anything is written`() throws {
        let machine = try Machine()
        let (code, text) = try machine.setUp(
            ["--yes", "--no-test", "--host", "broker.lan", "--room", "Hall", "--phone", "Jane:x"])
        #expect(code == 65 && text.contains("'Jane:x' cannot be added"), "\(text)")
        #expect(machine.file("config.json") == "")
    }

    @Test func `A configuration that is there stays, and with --force is kept beside the new one`() throws {
        let machine = try Machine()
        let options = ["--yes", "--no-test", "--host", "broker.lan", "--room"]
        #expect(try machine.setUp(options + ["Hall"]).code == 0)
        let first = machine.file("config.json")
        #expect(first.contains("deviceId: \"hall\"") && first.contains("host: \"broker.lan\""))
        let (code, text) = try machine.setUp(options + ["Kitchen"])
        #expect(code == 73 && text.contains("--force"))
        #expect(machine.file("config.json") == first)
        _ = try run(try GatewayProcess.program, machine.arguments + ["regions", "add", "Keys:\(Self.beacon)"])
        #expect(try machine.setUp(options + ["Kitchen", "--force"]).code == 0)
        // Another room is another topic, and the regions come along.
        #expect(try run(try GatewayProcess.program, machine.arguments + ["regions", "list"]).contains("Keys"))
        #expect(machine.file("config.json.old") == first)
        #expect(machine.file("config.json").contains("deviceId: \"kitchen\""))
        // So settings of a `setConfiguration` do not come before its answers.
        #expect(!machine.file("config.json").contains("remoteConfiguration"))
    }

    @Test func `The key of a Bluetooth proxy is made once, and only its owner can read it`() throws {
        let machine = try Machine()
        let options = ["--yes", "--no-test", "--host", "broker.lan", "--room", "Hall", "--bluetooth-proxy"]
        let (code, text) = try machine.setUp(options)
        #expect(code == 0, "\(text)")
        let key = machine.file("proxy-key")
        #expect(key.utf8.count == 45 && key.hasSuffix("=\n"))
        #expect(machine.mode("proxy-key") == 0o600)
        #expect(!text.contains(key.prefix(44)), "the key is not shown")
        #expect(
            machine.file("config.json").contains(
                "bluetoothProxy: {\"keyFile\":\"\(machine.directory.file("etc/proxy-key"))\"}"))
        // Home Assistant knows the key, and setup runs again.
        #expect(try machine.setUp(options + ["--force"]).code == 0)
        #expect(machine.file("proxy-key") == key)
    }

    @Test func `A page that other machines reach has its token at once, and settings are changed on it only if wanted`()
        throws
    {
        let machine = try Machine()
        let options = ["--yes", "--no-test", "--host", "broker.lan", "--room", "Hall", "--force", "--open-page"]
        let (code, text) = try machine.setUp(options)
        #expect(code == 0, "\(text)")
        #expect(machine.file("config.json").contains(#"http: {"listen":"*:8080"}"#), "\(machine.file("config.json"))")
        #expect(!machine.file("config.json").contains("remoteConfiguration"))
        #expect(text.contains("Its page:    sudo ibeacon-gateway status --link"))
        let token = try run(try GatewayProcess.program, machine.arguments + ["status", "--token"])
        #expect(token.utf8.count == 49)
        #expect(!text.contains(token.prefix(48)), "the token is not shown")
        // Browsers know the token, and setup runs again.
        #expect(try machine.setUp(options + ["--remote-configuration"]).code == 0)
        #expect(try run(try GatewayProcess.program, machine.arguments + ["status", "--token"]) == token)
        #expect(machine.file("config.json").contains("remoteConfiguration: true"))
    }

    @Test func `A password from a file is copied to one that only the service can read`() throws {
        let machine = try Machine()
        let secret = try machine.directory.write("hush\nsecond line\n", to: "secret")
        let (code, text) = try machine.setUp(
            [
                "--yes", "--no-test", "--host", "broker.lan", "--room", "Hall", "--username", "jane", "--password-file",
                secret,
            ])
        #expect(code == 0, "\(text)")
        #expect(machine.file("password") == "hush\n" && machine.mode("password") == 0o640)
        #expect(!text.contains("hush") && !machine.file("config.json").contains("hush"))
        #expect(try run(try GatewayProcess.program, machine.arguments + ["config", "check"]).contains("is valid"))
    }

    /// Setup in a shell, in the directory of the machine.
    private func shell(_ before: String, _ options: String, _ machine: Machine) throws {
        _ = try run(
            "sh",
            [
                "-c",
                "cd '\(machine.directory.path)' && \(before) '\(try GatewayProcess.program)' --config etc/config.json "
                    + "--state-dir state setup --yes --no-test --host broker.lan --room Hall \(options) >/dev/null 2>&1; true",
            ])
    }

    @Test func `A full disk takes no configuration away`() throws {
        let machine = try Machine()
        try shell("", "", machine)
        let first = machine.file("config.json")
        #expect(!first.isEmpty)
        // No file can grow; a program that ignores the signal gets an error as on a full disk.
        try shell("trap '' XFSZ; ulimit -f 0;", "--force", machine)
        #expect(machine.file("config.json") == first)
    }

    @Test func `With a relative --config the service finds the password`() throws {
        let machine = try Machine()
        try machine.directory.write("hush\n", to: "secret")
        try shell("", "--username jane --password-file secret", machine)
        #expect(machine.file("password") == "hush\n")
        #expect(try run(try GatewayProcess.program, machine.arguments + ["config", "check"]).contains("is valid"))
    }

    @Test func `Replaced files are kept: the password and the broker's authority`() throws {
        let machine = try Machine()
        for text in ["first", "second"] {
            let secret = try machine.directory.write(text, to: "secret")
            let authority = try machine.directory.write("\(text) authority", to: "home.pem")
            let (code, said) = try machine.setUp(
                [
                    "--yes", "--force", "--no-test", "--host", "broker.lan", "--room", "Hall", "--username", "jane",
                    "--password-file", secret, "--ca-file", authority,
                ])
            #expect(code == 0, "\(said)")
        }
        #expect(machine.file("password") == "second\n" && machine.file("password.old") == "first\n")
        #expect(machine.file("ca.pem") == "second authority" && machine.file("ca.pem.old") == "first authority")
    }

    @Test func `The broker's authority is copied beside the configuration, where the service can read it`() throws {
        let machine = try Machine()
        let authority = try machine.directory.write("authority", to: "home.pem")
        let (code, text) = try machine.setUp(
            ["--yes", "--no-test", "--host", "broker.lan", "--room", "Hall", "--ca-file", authority])
        #expect(code == 0, "\(text)")
        #expect(machine.file("ca.pem") == "authority" && machine.mode("ca.pem") == 0o640)
        #expect(machine.file("config.json").contains("caFile: \"\(machine.directory.file("etc/ca.pem"))\""))
    }

    @Test func `A password without a user name is refused before anything is written`() throws {
        let machine = try Machine()
        let secret = try machine.directory.write("hush", to: "secret")
        let (code, text) = try machine.setUp(
            ["--yes", "--no-test", "--host", "broker.lan", "--room", "Hall", "--password-file", secret])
        #expect(code == 64 && text.contains("username"), "\(text)")
        #expect(machine.file("config.json") == "" && machine.file("password") == "")
    }

    @Test(
        arguments: [
            (["--beacon", "CA271EAE"], 64, "UUID"),
            (
                ["--beacon", "Keys:\(SetupTests.beacon)"], 64,
                "begins with the name 'Keys'; the name goes into --region: --region 'Keys' --beacon '\(SetupTests.beacon)'"
            ),
            (["--scanner", "bluze"], 64, "or the path of a recording; did you mean 'bluez'?"),
            (["--scanner", "hci0"], 64, "did you mean 'hci'?"), (["--scanner", "walk"], 64, "'walk' is neither a way"),
            (["--port", "99999"], 64, "--port"),
            (["--rooms-service"], 64, "starts ibeacon-gateway-rooms.service, with the files in /etc and /var/lib;"),
            (["--rooms-service", "--no-service"], 64, "and --no-service starts none; give only one of them"),
            (["--floor", "100"], 64, "from -9 to 99"), (["--floor", "first"], 64, "not 'first'"),
            (["--lat", "48.8"], 64, "given together"), (["--lat", "91", "--lon", "0"], 64, "write degrees from"),
            (["--lat", "48,2"], 64, "--lat '48,2' does not fit"),
            (["--home-assistant", "--no-home-assistant"], 64, "exclude each other"),
            (
                ["--region", "Keys", "--person", "--keyboard", "--listen", "3"], 64,
                "--region is for the beacon of --beacon"
            ),
            (["--person"], 64, "add --beacon strongest"), (["--listen", "3"], 64, "add --beacon strongest"),
            (["--keyboard"], 64, "add --phone NAME"), (["--host", "mqtt://broker.lan", "--tls"], 64, "write mqtts://"),
            (["--beacon", "strongest"], 69, "nothing.btsnoop"),
        ] as [([String], Int32, String)])
    func `What does not fit is said, and nothing is written`(words: [String], code: Int32, text: String) throws {
        let machine = try Machine()
        let said = try machine.setUp(
            ["--yes", "--no-test", "--host", "broker.lan", "--room", "Hall", "--scanner", "nothing.btsnoop"] + words)
        #expect(said.code == code, "\(said.text)")
        #expect(said.text.contains(text), "\(said.text)")
        #expect(machine.file("config.json") == "")
    }

    /// A configuration of room-assistant with a login.
    private static func roomAssistant(port: UInt16) -> String {
        """
        global: {instanceName: Living room, integrations: [homeAssistant, bluetoothLowEnergy, gpio]}
        homeAssistant:
          mqttUrl: mqtt://127.0.0.1:\(port)
          mqttOptions: {username: jane, password: top secret}
        bluetoothLowEnergy:
          allowlist: [ca271eae5fa84e808f082a302a95a959-1-7, 7750fb4dab70]
          tagOverrides: {ca271eae5fa84e808f082a302a95a959-1-7: {name: Keys}}

        """
    }

    @Test func `From room-assistant: its broker, login, room and tags, and what is not translated is named`() throws {
        let machine = try Machine()
        try run("mosquitto_passwd", ["-b", "-c", machine.directory.file("passwords"), "jane", "top secret"])
        let broker = try MosquittoBroker(
            ["allow_anonymous false", "password_file \(machine.directory.file("passwords"))"], in: machine.directory)
        defer { broker.stop() }
        let old = try machine.directory.write(Self.roomAssistant(port: UInt16(broker.port)), to: "local.yml")
        let (code, text) = try machine.setUp(["--yes", "--from", old] + machine.radio())
        #expect(code == 0, "\(text)")
        #expect(
            text.contains("NOT translated:\n  line 1, global.integrations[2]: 'gpio' has no counterpart"), "\(text)")
        let configuration = machine.file("config.json")
        #expect(configuration.contains(#"room: "Living room","#) && configuration.contains(#"username: "jane","#))
        #expect(configuration.contains(#""Keys:CA271EAE-5FA8-4E80-8F08-2A302A95A959:1:7""#), "\(configuration)")
        #expect(machine.file("password") == "top secret\n" && machine.mode("password") == 0o640)
        #expect(!text.contains("top secret") && !configuration.contains("top secret"))
        let list = try run(try GatewayProcess.program, machine.arguments + ["regions", "list"])
        #expect(list.contains("Tag AB70"), "a gateway listens for an address only if a region has it")
        #expect(try run(try GatewayProcess.program, machine.arguments + ["config", "check"]).contains("is valid"))
        #expect(
            text.contains("To run it on this machine: sudo systemctl enable --now ibeacon-gateway-rooms"), "\(text)")
        #expect(text.contains("\nIf it fails: sudo ibeacon-gateway doctor"), "\(text)")
    }

    @Test func `setup says and writes what the document about room-assistant shows`() throws {
        let document = try run("cat", ["\(GatewayProcess.fixtures)/../../Docs/room-assistant.md"])
        func box(_ language: String) throws -> String {
            let rest = try #require(document.firstRange(of: "\n```\(language)\n")).upperBound
            let end = try #require(document[rest...].firstRange(of: "```")).lowerBound
            return String(document[rest..<end])
        }
        let machine = try Machine()
        let old = try machine.directory.write(try box("yaml"), to: "local.yml")
        let (code, text) = try machine.setUp(["--yes", "--no-test", "--from", old])
        #expect(code == 0, "\(text)")
        #expect(text.contains(try box("text")), "\(text)")
        let written = machine.file("config.json").replacing(
            machine.directory.file("etc/password"), with: "/etc/ibeacon-gateway/password")
        #expect(written == (try box("json5")))
    }

    @Test func `A broker on the command line does not get the login of the file`() throws {
        let machine = try Machine()
        let old = try machine.directory.write(Self.roomAssistant(port: 1883), to: "local.yml")
        let (code, text) = try machine.setUp(["--yes", "--no-test", "--from", old, "--host", "broker.lan"])
        #expect(code == 0, "\(text)")
        #expect(machine.file("password") == "" && !machine.file("config.json").contains("jane"))
    }

    @Test(arguments: ["", "a: [1", "title: a diary\n", "&a [*a]", String(repeating: "[", count: 50_000)])
    func `What is no configuration of room-assistant changes nothing`(text: String) throws {
        let machine = try Machine()
        let old = try machine.directory.write(text, to: "local.yml")
        let said = try machine.setUp(["--yes", "--no-test", "--host", "broker.lan", "--from", old])
        #expect(said.code == 65 && said.text.contains("nothing was written"), "\(said.text)")
        #expect(machine.file("config.json") == "")
    }

    @Test func `What is not UTF-8 is asked for again, and refused on the command line`() throws {
        let machine = try Machine()
        let person = try TerminalConversation(
            try GatewayProcess.program,
            machine.arguments + [
                "setup", "--no-test", "--host", "broker.lan", "--username", "jane", "--tid", "KU", "--beacon", "none",
                "--no-home-assistant", "--lat", "1", "--lon", "2", "--scanner", "x.btsnoop",
            ])
        // As a terminal sends ü in Latin-1.
        let room = Array("K".utf8) + [0xFC] + Array("che".utf8)
        #expect(person.answer("Password of 'jane'", bytes: room), "\(person.screen)")
        #expect(person.answer("That is not UTF-8.", "hush"), "\(person.screen)")
        #expect(person.answer("Which room is this", bytes: room), "\(person.screen)")
        #expect(person.answer("That is not UTF-8.", "Küche"), "\(person.screen)")
        #expect(person.end() == 0, "\(person.screen)")
        #expect(machine.file("password") == "hush\n")
        #expect(machine.file("config.json").contains(#"deviceId: "küche""#), "\(machine.file("config.json"))")
        let words = "'\(try GatewayProcess.program)' setup --config-only --room \"$(printf 'K\\374che')\" 2>&1; echo $?"
        let said = try run("sh", ["-c", words])
        #expect(said.contains("is not UTF-8; set the characters") && said.hasSuffix("\n64\n"), "\(said)")
    }

    @Test func `With TLS and without a name of the broker it says what to write, and not that none was found`() throws {
        let (code, text) = try Machine().setUp(["--yes", "--tls", "--room", "Hall"])
        #expect(code == 64 && text.contains("name it with --host"), "\(text)")
        #expect(!text.contains("Looking for") && !text.contains("was found"), "\(text)")
    }

    @Test func `Without a terminal and without --yes no question is asked`() throws {
        let (code, text) = try Machine().setUp([])
        #expect(code == 64 && text.contains("--yes"))
    }
}
