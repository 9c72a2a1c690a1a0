import System
import TestSupport
import Testing

struct HardwareTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func write(_ text: String, to path: String) throws {
        var folder = directory.path
        for name in path.split(separator: "/").dropLast() {
            folder += "/\(name)"
            if !FileAccess.exists(folder) { try FileAccess.createDirectory(folder) }
        }
        try directory.write(text, to: path)
    }

    @Test
    func
        `Hardware is told by the first network adapter with a device and an address of its own, or by the serial number`()
        throws
    {
        #expect(Hardware.digest(root: directory.path) == nil)
        try write("02:00:00:00:00:01\n", to: "sys/class/net/docker0/address")
        #expect(Hardware.digest(root: directory.path) == nil)
        try write("02:00:00:00:00:03\n", to: "sys/class/net/wlan0/address")
        try write("", to: "sys/class/net/wlan0/device")
        try write("3\n", to: "sys/class/net/wlan0/addr_assign_type")
        #expect(Hardware.digest(root: directory.path) == nil)
        try write("0\n", to: "sys/class/net/wlan0/addr_assign_type")
        let wireless = try #require(Hardware.digest(root: directory.path))
        try write("02:00:00:00:00:02\n", to: "sys/class/net/eth0/address")
        try write("", to: "sys/class/net/eth0/device")
        try write("0\n", to: "sys/class/net/eth0/addr_assign_type")
        let wired = try #require(Hardware.digest(root: directory.path))
        try write("10000000abcdef01\u{0}", to: "proc/device-tree/serial-number")
        let board = try #require(Hardware.digest(root: directory.path))
        #expect(Set([wireless, wired, board]).count == 3)
        #expect([wireless, wired, board].allSatisfy { $0.utf8.count == 16 })
        #expect(Hardware.digest(root: directory.path) == board)
    }
}
