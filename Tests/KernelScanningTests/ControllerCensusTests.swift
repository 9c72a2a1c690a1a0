import Beacon
import Glibc
import Scanning
import System
import Testing

@testable import KernelScanning

/// What stands in the way of the controllers that the kernel has.
@Suite struct ControllerCensusTests {
    private static let up: UInt32 = 1
    private static let raw: UInt32 = 1 << 8
    private static let address = DeviceAddress(value: 0x00aa_0100_0042, isRandom: false)

    private static func census(
        usable: [UInt16] = [], unconfigured: [UInt16: UInt32] = [:], flags: [UInt16: UInt32?] = [:]
    ) -> ControllerCensus {
        var census = ControllerCensus()
        census.usable = usable.map { PresentAdapter(index: $0, address: address) }
        census.unconfigured = unconfigured.mapValues { .init(rawValue: $0) }
        census.devices = flags.mapValues { $0.map { .init(flags: $0, address: address) } }
        return census
    }

    private static let cases: [(ControllerCensus, AdapterSelection, absence: String?)] = [
        (census(), .all, "there is no Bluetooth adapter"),
        (census(usable: [0], flags: [0: up]), .all, nil),
        (census(usable: [0], flags: [0: 0]), .index(0), nil),
        (
            census(usable: [1], flags: [1: up]), .index(0),
            "the adapter hci0 of the setting 'adapter' is not there; there is hci1 (00:AA:01:00:00:42)"
        ),
        (
            census(flags: [0: up]), .all,
            "hci0 (00:AA:01:00:00:42) is used by another program for itself (HCI user channel)"
        ),
        (
            census(flags: [0: up]), .address(0x00aa_0100_0042),
            "hci0 (00:AA:01:00:00:42) is used by another program for itself (HCI user channel)"
        ),
        (
            census(flags: [0: 0]), .all,
            "hci0 (00:AA:01:00:00:42) is not brought up by the kernel: its driver or firmware has failed, or is still loading"
        ),
        (
            census(flags: [0: UInt32?.none]), .all,
            "hci0 is not brought up by the kernel: its driver or firmware has failed, or is still loading"
        ),
        (census(flags: [0: raw]), .all, "hci0 (00:AA:01:00:00:42) is a raw device, which the kernel does not use"),
        (
            census(flags: [0: raw | up]), .all,
            "hci0 (00:AA:01:00:00:42) is a raw device, which the kernel does not use"
        ),
        (
            census(unconfigured: [0: 2], flags: [0: raw]), .all,
            "hci0 (00:AA:01:00:00:42) has no address of its own, so the kernel does not use it"
        ),
        (
            census(unconfigured: [0: 3], flags: [0: raw]), .all,
            "hci0 (00:AA:01:00:00:42) has no address of its own, so the kernel does not use it"
        ),
        (
            census(unconfigured: [0: 1], flags: [0: raw]), .all,
            "hci0 (00:AA:01:00:00:42) is not configured, so the kernel does not use it"
        ),
        (
            census(unconfigured: [0: 0], flags: [:]), .all,
            "hci0 is a raw device, which the kernel does not use"
        ),
        (census(usable: [0], unconfigured: [1: 2], flags: [0: up, 1: raw, 2: up]), .all, nil),
        (
            census(usable: [0], flags: [0: up, 1: up]), .index(1),
            "hci1 (00:AA:01:00:00:42) is used by another program for itself (HCI user channel)"
        ),
    ]

    @Test(arguments: cases)
    func `Each state of a controller has its own cause`(
        census: ControllerCensus, selection: AdapterSelection, absence: String?
    ) {
        #expect(census.absence(selection)?.text == absence)
    }

    @Test func `Controllers without Low Energy alone are a cause, beside another one they are none`() {
        var census = Self.census(usable: [0])
        census.withoutLowEnergy = [0]
        #expect(census.absence(.all)?.text == "hci0 (00:AA:01:00:00:42) cannot do Bluetooth Low Energy")
        census.usable.append(PresentAdapter(index: 1, address: nil))
        #expect(census.absence(.all) == nil)
    }

    @Test func `Every controller in the way is told, and every name that none has`() {
        let census = Self.census(usable: [0], unconfigured: [1: 2], flags: [0: Self.up, 1: Self.raw, 2: Self.up])
        let problems = census.problems(.anyOf([.index(1), .index(2), .index(7)])).map(\.text)
        #expect(problems.count == 3)
        #expect(problems.first?.hasPrefix("hci1 (00:AA:01:00:00:42) has no address") == true)
        #expect(problems.last?.hasPrefix("the adapter hci7") == true)
        #expect(census.problems(.index(0)).isEmpty)
    }

    @Test(arguments: [
        (EAFNOSUPPORT, true, "this program gets no Bluetooth socket", "--network host"),
        (EAFNOSUPPORT, false, "the kernel has no Bluetooth", "modprobe bluetooth"),
        (EPROTONOSUPPORT, false, "the kernel has no Bluetooth", "modprobe bluetooth"),
        (EPERM, true, "this program may open no Bluetooth socket", "seccomp"),
        (EACCES, false, "this program may open no Bluetooth socket", "AppArmor"),
        (EMFILE, true, "no Bluetooth socket can be opened", "journalctl"),
    ])
    func `A socket that the kernel refuses is told by the error and by whether the kernel has Bluetooth`(
        code: Int32, hasBluetooth: Bool, text: String, remedy: String
    ) {
        let problem = ScanProblem.socketRefusal(SystemError("socket", code: code), hasBluetooth: hasBluetooth)
        #expect(problem.text.hasPrefix(text))
        #expect(problem.remedy.contains(remedy))
    }
}
