import Configuration
import Glibc
import TestSupport
import Testing

@testable import Tools

/// A part of sysfs: one Bluetooth adapter, and one Wi-Fi interface if there is one.
struct Board: Sendable, CustomTestStringConvertible {
    let name: String
    /// Below `/sys/devices`.
    let bluetooth: String
    /// Below `/sys/devices`, without `/net/wlan0`; nil: no Wi-Fi.
    let wiFi: String?
    var driver = "brcmfmac"
    var state = "up"
    /// Whether the two have one antenna and Wi-Fi is in use.
    let isShared: Bool

    var testDescription: String { name }

    private static let sdio = "mmc_host/mmc1/mmc1:0001/mmc1:0001:1"
    private static let pi4WiFi = "platform/soc/fe300000.mmcnr/\(sdio)"
    private static let pi4Bluetooth = "platform/soc/fe201000.serial/serial0/serial0-0/bluetooth/hci0"

    /// The paths of the boards, from what users and the boards' device trees (raspberrypi/linux) say.
    static let all = [
        // udevadm in rsta2/circle issue 203; the Wi-Fi's controller is &mmcnr at 7e300000 of bcm2837-rpi-3-b.dts.
        Board(
            name: "Pi 3", bluetooth: "platform/soc/3f201000.serial/serial0/serial0-0/bluetooth/hci0",
            wiFi: "platform/soc/3f300000.mmcnr/\(sdio)", isShared: true),
        // Before the kernel attached the chip itself, hciattach did, and the adapter was below the terminal.
        Board(
            name: "Pi 3 with hciattach", bluetooth: "platform/soc/3f201000.serial/tty/ttyAMA0/hci0",
            wiFi: "platform/soc/3f300000.mmc/\(sdio)", isShared: true),
        // udevadm in MichaIng/DietPi issue 5445 for Wi-Fi; &uart0 at 7e201000 of bcm2711-rpi-4-b.dts for Bluetooth.
        Board(name: "Pi 4", bluetooth: pi4Bluetooth, wiFi: pi4WiFi, isShared: true),
        // &uarta and &sdio2 of bcm2712-rpi-5-b.dts; kernels since 6.6 have a device for each port of a UART.
        Board(
            name: "Pi 5",
            bluetooth:
                "platform/soc@107c000000/107d50c000.serial/107d50c000.serial:0/107d50c000.serial:0.0/serial0/serial0-0/bluetooth/hci0",
            wiFi: "platform/axi/1001100000.mmc/\(sdio)", isShared: true),
        // &uart0 and &mmcnr of bcm2710-rpi-zero-2-w.dts.
        Board(
            name: "Zero 2 W", bluetooth: "platform/soc/3f201000.serial/serial0/serial0-0/bluetooth/hci0",
            wiFi: "platform/soc/3f300000.mmcnr/\(sdio)", isShared: true),
        // The USB controllers of the Pi 4 are behind PCIe.
        Board(
            name: "USB dongle on a Pi 4",
            bluetooth:
                "platform/scb/fd500000.pcie/pci0000:00/0000:00:00.0/0000:01:00.0/usb1/1-1/1-1.3/1-1.3:1.0/bluetooth/hci0",
            wiFi: pi4WiFi, isShared: false),
        Board(
            name: "adapter behind a USB UART",
            bluetooth: "platform/soc/3f980000.usb/usb1/1-1/1-1.2/1-1.2:1.0/ttyUSB0/tty/ttyUSB0/hci0",
            wiFi: "platform/soc/3f300000.mmcnr/\(sdio)", isShared: false),
        Board(
            name: "Pi 4 whose Wi-Fi is not connected", bluetooth: pi4Bluetooth, wiFi: pi4WiFi, state: "down",
            isShared: false),
        Board(name: "Pi 4 without Wi-Fi", bluetooth: pi4Bluetooth, wiFi: nil, isShared: false),
        Board(
            name: "Pi 4 with Wi-Fi on USB", bluetooth: pi4Bluetooth,
            wiFi: "platform/scb/fd500000.pcie/pci0000:00/0000:00:00.0/0000:01:00.0/usb1/1-1/1-1.2/1-1.2:1.0",
            driver: "rtl8xxxu", isShared: false),
        // A controller in software, as in the virtual host.
        Board(name: "virtual adapter", bluetooth: "virtual/bluetooth/hci0", wiFi: pi4WiFi, isShared: false),
    ]

    /// - Returns: The directory that stands in for `/sys`.
    func make(in directory: TemporaryDirectory) throws -> String {
        let root = directory.file("sys")
        var commands = [
            "cd '\(directory.path)'",
            "mkdir -p sys/class/bluetooth sys/class/net/lo sys/devices/\(bluetooth)",
            "ln -s ../../devices/\(bluetooth) sys/class/bluetooth/hci0",
        ]
        if let wiFi {
            commands += [
                "mkdir -p sys/devices/\(wiFi)/net/wlan0 sys/bus/sdio/drivers/\(driver)",
                "ln -s ../../devices/\(wiFi)/net/wlan0 sys/class/net/wlan0",
                "ln -s '\(root)/devices/\(wiFi)' sys/devices/\(wiFi)/net/wlan0/device",
                "ln -s '\(root)/bus/sdio/drivers/\(driver)' sys/devices/\(wiFi)/driver",
                "echo \(state) > sys/devices/\(wiFi)/net/wlan0/operstate",
            ]
        }
        try run("sh", ["-c", commands.joined(separator: " && ")])
        return root
    }
}

@Suite struct AntennaTests {
    private static func configuration(_ scanDuty: Double?) -> Configuration {
        var configuration = Configuration.defaults(hostName: "pi")
        configuration.scanDuty = scanDuty
        return configuration
    }

    @Test(arguments: Board.all)
    func `doctor says where Wi-Fi shares the antenna, and advises a smaller share`(board: Board) throws {
        let directory = try TemporaryDirectory()
        let findings = RadioCheck.antennas([0], Self.configuration(nil), sysfs: try board.make(in: directory))
        guard board.isShared else {
            #expect(findings.isEmpty)
            return
        }
        let finding = try #require(findings.first)
        #expect(findings.count == 1)
        #expect(
            finding.text == "hci0 and wlan0 have one antenna, and wlan0 is up: Wi-Fi waits while the gateway listens")
        #expect(finding.advice?.contains("set scanDuty to 0.5 or less") == true)
        #expect(finding.isWell, "a share that is advised against is no fault")
        #expect(finding.lines.last?.hasSuffix("-> \(finding.advice ?? "")") == true)
    }

    @Test(arguments: [(nil, true), (1, true), (0.6, true), (0.5, false), (0.1, false)] as [(Double?, Bool)])
    func `Where scanDuty is 0.5 or less, there is nothing to advise`(scanDuty: Double?, isAdvised: Bool) throws {
        let directory = try TemporaryDirectory()
        let board = try #require(Board.all.first { $0.name == "Pi 4" })
        let findings = RadioCheck.antennas([0], Self.configuration(scanDuty), sysfs: try board.make(in: directory))
        #expect(findings.map { $0.advice != nil } == [isAdvised])
    }

    @Test func `An adapter that is not used is not looked at`() throws {
        let directory = try TemporaryDirectory()
        let board = try #require(Board.all.first { $0.name == "Pi 4" })
        let sysfs = try board.make(in: directory)
        #expect(RadioCheck.antennas([], Self.configuration(nil), sysfs: sysfs).isEmpty)
        #expect(RadioCheck.antennas([1], Self.configuration(nil), sysfs: sysfs).isEmpty)
    }
}
