import Base
import Beacon
import Testing

@testable import BluetoothProxy

/// The bytes on both sides were encoded by the classes of aioesphomeapi 46.23.0 (protobuf 7.36.2): one message with these fields each,
/// `SerializeToString().hex()`.
@Suite struct MessageTableTests {
    private static let settings = ProxyHarness.settings
    private static let device: UInt64 = 0xC0FF_EE00_1122
    private static let info =
        "12076b69746368656e1a1142383a32373a45423a30303a31313a32322208323032362e352e31320e5261737062657272792050"
        + "692034420f69626561636f6e2e676174657761794a03312e32620c5261737062657272792050696a0f4b69746368656e206761746577"
        + "6179"

    static let answers: [(String, ProxyMessage, UInt16, String)] = [
        ("hello", .hello(settings), 2, "0801100e1a1369626561636f6e2d6761746577617920312e3222076b69746368656e"),
        (
            "device", .deviceInfo(settings, isOffered: true), 10,
            info + "78618201074b69746368656e92011141413a42423a43433a30303a31313a3232980101d80101"
        ),
        (
            "device without an offer", .deviceInfo(settings, isOffered: false), 10,
            info + "8201074b69746368656e980101d80101"
        ),
        (
            "capabilities", .capabilities(settings, isOffered: true), 150,
            "0a150861121141413a42423a43433a30303a31313a3232"
        ),
        ("no capabilities", .capabilities(settings, isOffered: false), 150, ""),
        ("time", .time(1_795_833_600), 37, "0d003f0a6b"),
        ("idle", .scan(ProxyScan(state: .idle)), 126, ""),
        ("running", .scan(ProxyScan(state: .running)), 126, "0802"),
        ("active", .scan(ProxyScan(state: .running, mode: .active, configuredMode: .active)), 126, "080210011801"),
        ("connect", .refused(.connectWithoutCache, address: device), 69, "08a2a280f0fe9f30208501"),
        ("disconnect", .refused(.disconnect, address: device), 69, "08a2a280f0fe9f30"),
        ("pair", .refused(.pair, address: device), 85, "08a2a280f0fe9f3018ffffffffffffffffff01"),
        ("unpair", .refused(.unpair, address: device), 86, "08a2a280f0fe9f3018ffffffffffffffffff01"),
        ("cache", .refused(.clearCache, address: device), 88, "08a2a280f0fe9f3018ffffffffffffffffff01"),
        (
            "attribute", .refusedAttribute(address: device, handle: 42), 82,
            "08a2a280f0fe9f30102a18ffffffffffffffffff01"
        ),
        ("parameters", .refusedParameters(address: device), 146, "08a2a280f0fe9f3010ffffffffffffffffff01"),
        ("free connections", .freeConnections, 81, ""),
        ("disconnect", .disconnect, 5, ""), ("disconnected", .disconnected, 6, ""), ("ping", .ping, 7, ""),
        ("pong", .pong, 8, ""), ("entities", .entitiesDone, 19, ""),
    ]

    @Test(arguments: answers.indices) func `Each answer has the bytes of the reference`(row: Int) {
        let (name, message, type, expected) = Self.answers[row]
        #expect(message.type == type, "\(name)")
        #expect(message.payload == bytes(expected), "\(name)")
    }

    static let requests: [(UInt16, String, ProxyRequest)] = [
        (
            1, "0a18486f6d6520417373697374616e7420323032362e31312e301001180f2001",
            .hello(name: "Home Assistant 2026.11.0", isDialTarget: true)
        ),
        (1, "0a0d61696f657370686f6d656170691001180f", .hello(name: "aioesphomeapi", isDialTarget: false)),
        (1, "0a040a1bc3a4", .hello(name: "????", isDialTarget: false)),
        (3, "", .other), (5, "", .disconnect), (6, "", .disconnected), (7, "", .ping), (9, "", .deviceInfo),
        (11, "", .entities), (20, "", .other), (34, "", .other), (36, "", .time), (38, "", .other),
        (66, "0801", .subscribe(isRaw: true)), (66, "", .subscribe(isRaw: false)),
        (68, "08a2a280f0fe9f30100518012001", .device(address: device, .connectWithoutCache)),
        (68, "1063", .other), (73, "08a2a280f0fe9f30102a", .attribute(address: device, handle: 42)),
        (80, "", .freeConnections), (87, "", .unsubscribe), (127, "0801", .setMode(.active)),
        (127, "", .setMode(.passive)),
        (145, "08a2a280f0fe9f301001", .connectionParameters(address: device)), (149, "", .capabilities),
        (65_535, "", .other),
    ]

    @Test(arguments: requests.indices) func `Each request is read from the bytes of the reference`(row: Int) throws {
        let (type, payload, expected) = Self.requests[row]
        #expect(try ProxyRequest(type: type, payload: bytes(payload)[...]) == expected)
    }

    @Test func `Packets have the bytes of the reference`() throws {
        var batch = PacketBatch()
        let beacon = bytes("0201061aff4c000215") + [UInt8](repeating: 0, count: 21)
        func add(_ address: UInt64, _ isRandom: Bool, _ level: Int8?, _ data: [UInt8]) {
            let report = AdvertisingReport(
                address: DeviceAddress(value: address, isRandom: isRandom), rssi: level.flatMap(RSSI.init(reported:)))
            batch.add(report, data, at: .zero)
        }
        add(Self.device, true, -60, beacon)
        add(0xA4C1_3811_2233, false, 0, [])
        add(1, false, nil, Array(1...62))
        #expect(batch.count == 3)
        #expect(
            batch.payload
                == bytes(
                    "0a2c08a2a280f0fe9f3010771801221e0201061aff4c0002150000000000000000000000000000000000000000000a0808b3c4"
                        + "c4c09398290a45080110fd01223e0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2021"
                        + "22232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e"))
    }

    @Test func `Of longer data whole structures are passed on, at most 62 bytes`() {
        #expect(PacketBatch.wholeStructures([2, 1, 6]) == [2, 1, 6])
        let long: [UInt8] =
            [2, 1, 6] + [30] + [UInt8](repeating: 7, count: 30) + [40] + [UInt8](repeating: 8, count: 40)
        #expect(PacketBatch.wholeStructures(long).count == 34)
        #expect(PacketBatch.wholeStructures([255] + [UInt8](repeating: 7, count: 255)).isEmpty)
        #expect(PacketBatch.wholeStructures([UInt8](repeating: 0, count: 229)).count == 62)
    }

    static let malformed = [
        "08", "0880", "08ffffffffffffffffff02", "08ffffffffffffffffffff01", "0a", "0a05", "0affffffffffffffffff01",
        "0d000000",
        "0900000000000000", "00", "03", "04", "0b", "0e", "0f", "f8ffffffff01",
    ]

    @Test(arguments: malformed) func `What is no message is refused`(_ text: String) {
        #expect(throws: ProtobufReader.Malformed.self) { try ProxyRequest(type: 66, payload: bytes(text)[...]) }
    }

    @Test func `Unknown fields of every type are passed over`() throws {
        let payload = bytes("f2010361626328f9ac0d390102030405060708450102030408018001ffffffffffffffffff01")
        #expect(try ProxyRequest(type: 66, payload: payload[...]) == .subscribe(isRaw: true))
    }
}
