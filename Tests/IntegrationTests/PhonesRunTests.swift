import Beacon
import Scanning
import TestSupport
import Testing

/// What is no iBeacon, through the whole program.
@Suite struct PhonesRunTests {
    private static let key = "EC0234A357C8AD05341010A60A397D9B"
    /// An address that the key resolves: the sample data of the Core Specification.
    private static let address: UInt64 = 0x7081_940d_fbaa

    private static let regions = """
        waypoints: [
         {_type: "waypoint", rid: "bike", tst: 1, desc: "Bike:mac:C0:FF:EE:00:00:01"},
         {_type: "waypoint", rid: "box", tst: 1, desc: "Box:eddystone:2F234454F4911BA9FFA6:000000000001"},
         {_type: "waypoint", rid: "tag", tst: 1, desc: "Tag:altbeacon:2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6:1:2"},
        """

    /// A second of packets: of a phone, of a fixed address, and the public examples of two formats.
    private static func capture(to path: String) throws {
        let packets: [(UInt64, [UInt8])] = [
            (address, [0x02, 0x01, 0x1a, 0x08, 0xff, 0x4c, 0x00, 0x10, 0x03, 0x01, 0x02, 0x03]),
            (0xc0ff_ee00_0001, [0x02, 0x01, 0x06]),
            (0x1234_5678_9abc, octets("0201060303aafe1516aafe00e72f234454f4911ba9ffa6000000000001")),
            (0x2234_5678_9abc, octets("02011a1bff1801beac2f234454cf6d4a0fadf2f4911ba9ffa600010002c509")),
        ]
        var writer = try CaptureWriter(path: path)
        for number in 0..<10 {
            for (address, packet) in packets {
                let report = AdvertisingReport(
                    address: DeviceAddress(value: address, isRandom: true), rssi: RSSI(reported: -60))
                try writer.write(
                    report, data: packet.span, wallMicroseconds: 1_700_000_000_000_000 + Int64(number) * 100_000,
                    receiver: Receiver(index: 0))
            }
        }
        try writer.flush()
    }

    private static func octets(_ text: String) -> [UInt8] {
        stride(from: 0, to: text.count, by: 2).compactMap { UInt8(text.dropFirst($0).prefix(2), radix: 16) }
    }

    /// Adds a phone with the key.
    ///
    /// - Returns: The description of its region.
    private func add(_ name: String, to gateway: GatewayProcess) throws -> String {
        let file = try gateway.directory.write("irk:\(Self.key)\n", to: "jane.key")
        let printed = try gateway.ask("--quiet", "phones", "add", name, "--key", file, "--listen", "0")
        return String(printed.dropLast())
    }

    @Test func `A phone, a fixed address, an Eddystone-UID and an AltBeacon are regions`() throws {
        let gateway = try GatewayProcess("", port: 1)
        let description = try add("Jane", to: gateway)
        try gateway.configure(
            "\(Self.regions) {_type: \"waypoint\", rid: \"jane\", tst: 1, desc: \"\(description)\"}]", port: 1)
        let path = gateway.directory.file("walk.btsnoop")
        try Self.capture(to: path)
        let messages = try gateway.ask("replay", path)
        for name in ["Jane", "Bike", "Box", "Tag"] {
            let enters = messages.split(separator: "\n").filter {
                $0.contains(#""desc":"\#(name)","event":"enter""#) && $0.contains("/event")
            }
            #expect(enters.count == 1, "\(name): \(messages)")
        }
        // Without the key, the phone is a stranger.
        _ = try gateway.ask("phones", "remove", "Jane")
        #expect(try !gateway.ask("replay", path).contains(#""desc":"Jane","event":"enter""#))
    }

    @Test func `A removal is remembered, since the key of the site may be a credential that only the service has`()
        throws
    {
        let gateway = try GatewayProcess("", port: 1)
        _ = try add("Jane", to: gateway)
        _ = try gateway.ask("--quiet", "phones", "remove", "Jane")
        let file = String(decoding: try gateway.directory.read("state/phone-keys"), as: UTF8.self)
        #expect(file.hasPrefix("removed,") && file.hasSuffix(" Jane\n"), "\(file)")
    }

    @Test func `A key is in its file and nowhere else`() throws {
        let gateway = try GatewayProcess("", port: 1)
        let state = gateway.directory.file("state")
        var shown = try add("Jane", to: gateway)
        _ = try gateway.ask("regions", "add", shown)
        for words in [["phones", "list"], ["phones", "list", "--json"], ["regions", "export"], ["config", "show"]] {
            shown += try run(try GatewayProcess.program, gateway.arguments + words)
        }
        #expect(shown.contains("Jane"))
        let mode = try run("stat", ["-c", "%a", "\(state)/phone-keys"])
        #expect(mode == "600\n")
        let found = try run("grep", ["-rilE", "\(Self.key)|\(Self.key.prefix(16))", state])
        #expect(found == "\(state)/phone-keys\n")
        #expect(!shown.uppercased().contains(Self.key.prefix(16)), "\(shown)")
    }

    @Test(arguments: [false, true])
    func `phones add and test listen, and say in which order the octets of a key are`(isReversed: Bool) throws {
        let gateway = try GatewayProcess("scanner: {capture: \"air.btsnoop\"}", port: 1)
        try Self.capture(to: gateway.directory.file("air.btsnoop"))
        let reversed = "9B7D390AA610103405ADC857A33402EC"
        let file = try gateway.directory.write("\(isReversed ? reversed : Self.key)\n", to: "jane.key")
        let said = try gateway.say("phones", "add", "Jane", "--key", file)
        #expect(
            said.contains("the key fits what is heard now\(isReversed ? "; its octets were given in the other" : "")"))
        #expect(said.contains("Jane:BF76C877-E0BE-5D31-9AE5-547EBF800856"), "\(said)")
        let tested = try gateway.ask("--quiet", "phones", "test", "Jane")
        #expect(tested == "Jane is heard: 10 packets under 1 addresses, at most -60 dBm\n")
        let other = try gateway.directory.write("0123456789ABCDEF0123456789ABCDEF\n", to: "john.key")
        let unheard = try gateway.say("phones", "add", "John", "--key", other)
        #expect(unheard.contains("private addresses fits the key"), "\(unheard)")
        let missed = try gateway.say("phones", "test", "John")
        #expect(missed.contains("John is not heard: none of"), "\(missed)")
        #expect(missed.contains("paired with this machine"), "\(missed)")
    }

    @Test func `Keys move to another gateway in a file that only its owner can read`() throws {
        let gateway = try GatewayProcess("", port: 1)
        let description = try add("Jane", to: gateway)
        let file = gateway.directory.file("exported-keys")
        try gateway.directory.write("", to: "exported-keys")
        _ = try run("chmod", ["644", file])
        _ = try gateway.ask("phones", "export", file)
        #expect(try run("stat", ["-c", "%a", file]) == "600\n")
        let other = try GatewayProcess("", port: 1, device: "kitchen")
        _ = try other.ask("phones", "import", file)
        #expect(try other.ask("phones", "list").contains(description.dropFirst("Jane:".count)))
        // The time of the change is that of the import.
        for gateway in [gateway, other] {
            let exported = try gateway.ask("phones", "export", "-")
            #expect(exported.hasPrefix("\(Self.key),") && exported.hasSuffix(" Jane\n"), "\(exported)")
        }
        let terminal = try gateway.say("phones", "export", "/dev/tty")
        #expect(!terminal.contains(Self.key))
    }

    @Test func `Keys are not exported through a symbolic link, whose owner may be another user`() throws {
        let gateway = try GatewayProcess("", port: 1)
        _ = try add("Jane", to: gateway)
        let target = try gateway.directory.write("precious", to: "target")
        let link = gateway.directory.file("phones.keys")
        try run("ln", ["-s", target, link])
        let said = try gateway.say("phones", "export", link)
        #expect(said.contains("phones.keys is a symbolic link; name the file itself"), "\(said)")
        #expect(try gateway.directory.read("target") == Array("precious".utf8))
    }

    @Test func `An imported region may have a key, which is stored among the keys of phones`() throws {
        let gateway = try GatewayProcess("", port: 1)
        let file = try gateway.directory.write(
            #"[{"_type":"waypoint","rid":"jane","tst":1,"desc":"Jane:irk:\#(Self.key)"}]"#, to: "with-key.otrw")
        _ = try gateway.ask("regions", "import", file)
        let exported = try gateway.ask("regions", "export")
        #expect(exported.contains(#""desc":"Jane:BF76C877-E0BE-5D31-9AE5-547EBF800856""#), "\(exported)")
        #expect(try gateway.ask("phones", "list").contains("BF76C877-E0BE-5D31-9AE5-547EBF800856"))
        // On a command line everybody could read it.
        let refused = try gateway.say("regions", "add", "Jane:irk:\(Self.key)")
        #expect(refused.contains("a key does not belong into a description"), "\(refused)")
    }

    @Test func `Keys that others can read are not used`() throws {
        let gateway = try GatewayProcess("", port: 1)
        _ = try add("Jane", to: gateway)
        _ = try run("chmod", ["644", "\(gateway.directory.file("state"))/phone-keys"])
        #expect(throws: (any Error).self) { try gateway.ask("phones", "list") }
    }
}
