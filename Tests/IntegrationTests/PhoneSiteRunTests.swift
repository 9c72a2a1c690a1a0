import Beacon
import Scanning
import TestSupport
import Testing

/// A site with a key whose gateways share the keys of phones: the programs themselves over a real broker.
@Suite struct PhoneSiteRunTests {
    private static let key = "EC0234A357C8AD05341010A60A397D9B"
    private static let uuid = "BF76C877-E0BE-5D31-9AE5-547EBF800856"
    /// Bytes of the key as patterns of grep -P, in either order.
    private static let bytes = [
        #"\xEC\x02\x34\xA3\x57\xC8\xAD\x05"#, #"\x34\x10\x10\xA6\x0A\x39\x7D\x9B"#,
        #"\x9B\x7D\x39\x0A\xA6\x10\x10\x34"#, #"\x05\xAD\xC8\x57\xA3\x34\x02\xEC"#,
    ]
    /// Hexadecimal and base64, in either order, without the last characters.
    private static let texts = ["EC0234A357C8AD05", "9B7D390AA6101034", "7AI0o1fIrQU0EBCmCj", "m305CqYQEDQFrchXoz"]

    private let broker: MosquittoBroker

    init() throws { broker = try MosquittoBroker() }

    private func gateway(_ device: String, page: UInt16) throws -> GatewayProcess {
        let directory = try TemporaryDirectory()
        var writer = try CaptureWriter(path: directory.file("air.btsnoop"))
        let packet: [UInt8] = [0x02, 0x01, 0x1a, 0x08, 0xff, 0x4c, 0x00, 0x10, 0x03, 0x01, 0x02, 0x03]
        // An address that the key resolves: the sample data of the Core Specification.
        let report = AdvertisingReport(
            address: DeviceAddress(value: 0x7081_940d_fbaa, isRandom: true), rssi: RSSI(reported: -60))
        for number in Int64(0)..<1200 {
            try writer.write(
                report, data: packet.span, wallMicroseconds: 1_700_000_000_000_000 + number * 500_000,
                receiver: Receiver(index: 0))
        }
        try writer.flush()
        try directory.write("correct horse battery staple\n", to: "key")
        return try GatewayProcess(
            """
            scanner: {capture: "air.btsnoop"}, leaveAfter: 30, rooms: {encryptionKeyFile: "key"},
            waypoints: [{_type: "waypoint", rid: "jane", tst: 1, desc: "Jane:\(Self.uuid)"}]
            """, port: broker.port, device: device, http: "{listen: \"127.0.0.1:\(page)\"}", in: directory)
    }

    /// The files that have the key in any form.
    private func files(in directories: [String]) throws -> Set<String> {
        let texts = Self.texts.map { "-e '\($0)'" }.joined(separator: " ")
        let bytes = Self.bytes.map { "-e '\($0)'" }.joined(separator: " ")
        let places = directories.joined(separator: " ")
        let script =
            "grep -raliF \(texts) \(places); for p in \(bytes.replacing("-e ", with: "")); do "
            + "LC_ALL=C grep -ralP -e \"$p\" \(places); done; true"
        return Set(try run("sh", ["-c", script]).split(separator: "\n").map(String.init))
    }

    @Test func `A key that one gateway has is heard by the other, is in its file only, and is removed everywhere`()
        throws
    {
        defer { broker.stop() }
        let witness = try Subscriber(to: broker)
        let pages = [try LoopbackPort.free(), try LoopbackPort.free()]
        let hall = try gateway("hall", page: pages[0])
        let kitchen = try gateway("kitchen", page: pages[1])
        for gateway in [hall, kitchen] { try gateway.start() }
        let file = try hall.directory.write("\(Self.key)\n", to: "jane.key")
        _ = try hall.ask("--quiet", "phones", "add", "Jane", "--key", file, "--listen", "0")
        for gateway in [hall, kitchen] { #expect(gateway.says("entered Jane"), "\(gateway.log)") }
        let list = try hall.asked("phones", "list", until: "kitchen", "Jane")
        #expect(list.contains(Self.uuid) && list.contains("kitchen"), "\(list)")

        var seen = list
        for gateway in [hall, kitchen] {
            for words in [
                ["phones", "list", "--json"], ["regions", "export"], ["config", "show"], ["status"],
                ["status", "--json"],
                ["history", "--json"], ["doctor"], ["doctor", "--report"],
            ] {
                let name = "said-\(words.joined())"
                try ChildProcess(
                    try GatewayProcess.program, gateway.arguments + words, output: gateway.directory.file(name)
                ).wait()
            }
        }
        for page in pages {
            for path in ["", "status.json", "metrics", "explain.json?region=Jane"] {
                seen += try run("curl", ["-s", "http://127.0.0.1:\(page)/\(path)"])
            }
        }
        try run(
            "mosquitto_pub",
            [
                "-h", "127.0.0.1", "-p", "\(broker.port)", "-t", "owntracks/jane/hall/cmd", "-m",
                #"{"_type":"cmd","action":"dump"}"#,
            ])
        #expect(eventually { witness.lines.contains { $0.topic == "owntracks/jane/hall/dump" } })
        for line in witness.lines { seen += "\(line.topic) \(line.text)\n\(line.payload)\n" }
        #expect(witness.lines.contains { $0.topic == "ibeacon-rooms/home/phones/kitchen" })
        try hall.directory.write(seen, to: "seen")
        let directories = [hall, kitchen].map(\.directory.path)
        let found = try files(in: directories)
        #expect(
            found == [
                file, "\(hall.directory.path)/state/phone-keys", "\(kitchen.directory.path)/state/phone-keys",
            ])

        _ = try hall.ask("--quiet", "phones", "remove", "Jane")
        #expect(eventually { (try? files(in: directories)) == [file] }, "\(kitchen.log)")
        #expect(try kitchen.asked("phones", "list", until: "none yet").contains("none yet"))
        for gateway in [hall, kitchen] { #expect(gateway.stop() == 0) }
    }
}
