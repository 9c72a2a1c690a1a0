import Base
import TestSupport
import Testing

@testable import System

@Suite struct MachineNetworkTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func write(_ path: String, _ text: String = "") throws {
        var folder = directory.path
        for name in path.split(separator: "/").dropLast() {
            folder += "/\(name)"
            if !FileAccess.exists(folder) { try FileAccess.createDirectory(folder) }
        }
        try directory.write(text, to: path)
    }

    private func place(_ address: String) -> MachineAddresses.Place? {
        InternetAddress(address).flatMap { MachineNetwork.addresses(root: directory.path).place(of: $0) }
    }

    private static let trie = """
        Main:
          +-- 0.0.0.0/0 3 0 5
             |-- 0.0.0.0
                /0 universe UNICAST
             +-- 192.168.1.0/24 2 0 2
                |-- 192.168.1.0
                   /24 link UNICAST
                |-- 192.168.1.5
                   /32 host LOCAL
                |-- 192.168.1.255
                   /32 link BROADCAST
        """
    private static let routes = """
        Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
        eth0\t00000000\t0101A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0
        eth0\t0001A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
        docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0
        br0\t0002A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
        docker0\t0000080A\t050011AC\t0003\t0\t0\t0\t0000FFFF\t0\t0\t0
        """
    private static let ipv6 = """
        fd000000000000000000000000000002 04 40 00 82     eth0
        fe8000000000000000fc00fffe000001 04 40 20 80     eth0
        fd120000000000000000000000000001 05 40 00 82     docker0
        fe800000000000000042000000000001 05 40 20 80     docker0
        """

    private func makeMachine() throws {
        try write("/proc/self/net/fib_trie", Self.trie)
        try write("/proc/self/net/route", Self.routes)
        try write("/proc/self/net/if_inet6", Self.ipv6)
        // A network adapter, a bridge of containers with one of them, and a bridge that joins a VLAN of the adapter with others.
        for path in [
            "eth0/device/id", "docker0/bridge/id", "docker0/lower_veth1/id", "veth1/ifindex", "br0/bridge/id",
            "br0/lower_eth0.7/id", "br0/lower_veth2/id", "eth0.7/lower_eth0/id",
        ] { try write("/sys/class/net/\(path)") }
    }

    static let rows: [(address: String, place: MachineAddresses.Place?)] = [
        ("127.0.0.1", .machine), ("127.9.9.9", .machine), ("::1", .machine), ("::ffff:127.0.0.1", .machine),
        ("192.168.1.5", .machine), ("::ffff:192.168.1.5", .machine), ("fd00::2", .machine),
        ("fe80::fc:ff:fe00:1", .machine), ("fe80::fc:ff:fe00:1%eth0", .machine),
        ("172.17.0.2", .container(bridge: "docker0")), ("172.17.255.254", .container(bridge: "docker0")),
        ("::ffff:172.17.0.2", .container(bridge: "docker0")), ("fd12::77", .container(bridge: "docker0")),
        // The network of the bridge ends here; what a router behind the bridge reaches is not in it.
        ("172.18.0.2", nil), ("10.8.0.1", nil),
        // The network outside, by an adapter and by a bridge that joins an adapter.
        ("192.168.1.6", nil), ("192.168.1.255", nil), ("192.168.2.9", nil), ("fd00::3", nil), ("fe80::7", nil),
        ("8.8.8.8", nil),
    ]

    @Test("An address is this machine's, in one of its containers, or elsewhere", arguments: rows)
    func place(address: String, place: MachineAddresses.Place?) throws {
        try makeMachine()
        #expect(self.place(address) == place)
    }

    @Test("Where the kernel shows nothing, only a loopback address is this machine's, and that is known")
    func nothing() {
        #expect(place("127.0.0.1") == .machine)
        #expect(place("192.168.1.5") == nil)
        #expect(!MachineNetwork.addresses(root: directory.path).isKnown)
    }

    @Test("What is no line of the kernel is skipped")
    func garbage() throws {
        try write("/proc/self/net/fib_trie", "|--\n/32 LOCAL\n|-- x\n/32 host LOCAL\n|-- 1.2.3.4\n\n/32 host LOCAL")
        try write("/proc/self/net/route", "docker0\nbr\tx\ty\t1\t1\t1\t1\tzz\n")
        try write("/proc/self/net/if_inet6", "zz\nfd00 1 40 0 0 e\n")
        #expect(place("1.2.3.4") == .machine)
        #expect(place("1.2.3.5") == nil)
    }

    @Test("This machine knows its own addresses")
    func own() {
        #expect(MachineNetwork.addresses().isKnown)
    }

    @Test(
        "An address in figures is read in every form",
        arguments: [
            ("1.2.3.4", "1.2.3.4"), ("::ffff:1.2.3.4", "1.2.3.4"), ("0:0:0:0:0:ffff:102:304", "1.2.3.4"),
            ("::", "0:0:0:0:0:0:0:0"), ("1::", "1:0:0:0:0:0:0:0"), ("::8", "0:0:0:0:0:0:0:8"),
            ("2001:db8::a:1", "2001:db8:0:0:0:0:a:1"), ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"),
            ("FE80::1%eth0", "fe80:0:0:0:0:0:0:1"), ("1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"),
            ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
        ])
    func figures(text: String, shown: String) {
        #expect(InternetAddress(text)?.description == shown)
    }

    @Test(
        "Anything else is no address",
        arguments: [
            "", "home", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.+4", "1.2..4", ":", ":::", "1:2", "1::2::3", ":1::2",
            "1:2:3:4:5:6:7:8:9", "12345::", "g::", "1::2:", "1:2:3:4:5:6:7:8::", "::1.2.3", "%eth0", "1.2.3.4/24",
        ])
    func noAddress(text: String) {
        #expect(InternetAddress(text) == nil)
    }
}
