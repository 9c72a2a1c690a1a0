import JSON
import TestSupport
import Testing

/// Every command that prints names from outside, with names that would take over a terminal.
@Suite struct HostileNameRunTests {
    /// In a JSON text: changes the title, clears the screen (with a control of C1 too), turns the direction, hides.
    private static let name =
        #"Jane\u001b]0;owned\u0007\u001b[2J\u009b2J\u007f\u202egnp\u2066\u200f\u061c\u2028\u200b\ufeff\r"#

    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0a: false
        case 0x00...0x1f, 0x7f...0x9f, 0x061c, 0x200b, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069, 0xfeff: true
        default: false
        }
    }

    private static func expectHarmless(_ printed: String, _ words: [String]) {
        let harmful = printed.unicodeScalars.filter(isHarmful).map { String($0.value, radix: 16) }
        #expect(harmful.isEmpty, "\(words): \(harmful) in \(printed)")
    }

    /// What must be in the output, so that the test cannot pass on an empty one.
    private static let commands: [(words: [String], shows: String)] = [
        (["rooms", "status"], "Jane"), (["rooms", "status", "--json"], "Jane"), (["rooms", "gateways"], "Jane"),
        (["rooms", "gateways", "--json"], "Jane"), (["rooms", "tags", "list"], "Jane"),
        (["rooms", "tags", "list", "--json"], "Jane"), (["rooms", "tags", "show", "jane"], "Jane"),
        (["rooms", "tags", "export"], "Jane"), (["regions", "list"], "Jane"), (["regions", "list", "--json"], "Jane"),
        (["regions", "show", "jane"], "Jane"), (["regions", "export"], "Jane"),
        (["doctor", "--listen", "1"], "broker"),
        (["doctor", "--json", "--listen", "1"], "broker"), (["config", "show"], "Jane"),
        (["config", "check"], "valid"),
        (["rooms", "forget", "Ja\u{1b}[2Jne\u{202e}"], "no room"), (["fly\u{1b}[2J"], "unknown command"),
        (["regions", "show", "a\u{202e}b"], "a"), (["history"], "nothing happened"),
    ]

    @Test func `No command sends to the terminal what a name contains`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let house = try RoomsHouse(port: broker.port)
        let name = Self.name
        try house.publish(
            "gateway/g9", #"{"v":1,"room":"\#(name)","scanner":"\#(name)","version":"\#(name)"}"#, retained: true)
        try house.publish("health/g9", #"{"v":1,"room":"\#(name)","problem":"deaf","listening":false}"#, retained: true)
        let card = try MovingCard(port: broker.port, #"{"v":1,"active":true,"counter":COUNTER,"version":"\#(name)"}"#)
        defer { card.stop() }
        try house.publish(
            "tag/jane", #"{"v":1,"name":"\#(name)","room":"x","roomName":"\#(name)","home":true,"since":1}"#,
            retained: true)
        try house.publish("room/x", #"{"v":1,"name":"\#(name)","count":1}"#, retained: true)
        let machine = try RoomsProcess(port: broker.port, instance: "b", tags: [], ", tag: \"\(name)\"")
        let waypoint =
            #"{"_type":"waypoint","tst":1600000000,"rid":"jane","desc":"\#(name):\#(BeaconScript.uuid):1:7"}"#
        let file = try machine.directory.write(
            #"{"_type":"waypoints","waypoints":[\#(waypoint)]}"#, to: "hostile.otrw")
        _ = try machine.say("regions", "import", file)
        _ = try machine.say("rooms", "tags", "import", file)
        for row in Self.commands {
            let printed = try machine.prints(row.words)
            #expect(printed.contains(row.shows), "\(row.words): \(printed)")
            Self.expectHarmless(printed, row.words)
        }
        // A program that reads JSON gets the name as it is.
        let truth = try JSONValue(parsing: Array(#""\#(name)""#.utf8)).string
        let status = try JSONValue(parsing: Array(try machine.ask("rooms", "status", "--json").utf8))
        #expect(status["tags"]?["jane"]?["name"]?.string == truth)
        let regions = try JSONValue(parsing: Array(try machine.ask("regions", "export").utf8))
        #expect(regions["waypoints"]?.array?.first?["desc"]?.string?.hasPrefix(truth ?? "-") == true)
    }

    @Test func `Of a running gateway, too: its status, its history and its log`() throws {
        let name = Self.name
        let house = try GatewayFixture(starts: false)
        try house.gateway.configure(
            "waypoints: [\(GatewayFixture.waypoint("k", name))], \(GatewayFixture.stay)", port: house.broker.port,
            http: "{listen: \"127.0.0.1:\(try LoopbackPort.free())\"}")
        try house.start()
        #expect(eventually { (try? house.gateway.ask("history").contains("came")) == true }, "\(house.gateway.log)")
        #expect(eventually { (try? house.gateway.ask("status").contains("Jane")) == true }, "\(house.gateway.log)")
        let outputs = [
            try house.gateway.say("status"), try house.gateway.say("status", "--json"),
            try house.gateway.say("status", "--explain", "k"), try house.gateway.say("history"),
            try house.gateway.say("history", "--csv"), try house.gateway.say("history", "--json"),
            try house.gateway.say("regions", "list"), house.gateway.log,
        ]
        for printed in outputs {
            #expect(printed.contains("Jane"))
            Self.expectHarmless(printed, [])
        }
    }
}

extension RoomsProcess {
    /// What a command prints that may fail, to standard output and standard error.
    fileprivate func prints(_ words: [String]) throws -> String {
        let output = directory.file("printed")
        _ = try directory.write("", to: "printed")
        try ChildProcess(
            try GatewayProcess.program,
            ["--config", directory.file("config.json"), "--state-dir", directory.file("state")] + words, output: output
        ).wait()
        return String(decoding: try directory.read("printed"), as: UTF8.self)
    }
}
