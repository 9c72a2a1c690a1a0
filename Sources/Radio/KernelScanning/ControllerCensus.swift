import Beacon
import Scanning

/// The controllers of this machine as the kernel tells them, and what stands in the way of those that cannot be used.
/// Pure: it is filled by `RadioDiagnosis`.
struct ControllerCensus: Hashable, Sendable {
    /// A controller as a raw socket tells it, whatever state it is in.
    struct Device: Hashable, Sendable {
        /// `hci_dev_info.flags` (bluetooth/hci.h).
        let flags: UInt32
        /// nil before the kernel has read it.
        let address: DeviceAddress?

        /// HCI_UP and HCI_RAW.
        var isUp: Bool { flags & 1 != 0 }
        var isRaw: Bool { flags & 1 << 8 != 0 }
    }

    /// What an unconfigured controller misses (Read Controller Configuration Information).
    struct MissingOptions: OptionSet, Hashable, Sendable {
        let rawValue: UInt32
        static let external = MissingOptions(rawValue: 1 << 0)
        static let publicAddress = MissingOptions(rawValue: 1 << 1)
    }

    /// Why the kernel offers a controller to nobody.
    private enum Hindrance: Hashable {
        /// A program has it for itself (HCI_CHANNEL_USER).
        case taken
        case unconfigured(MissingOptions)
        /// A device that the kernel does not run.
        case raw
        /// The kernel has not brought it up.
        case notSetUp
    }

    /// Those that programs can use: the answers to Read Index List and Read Controller Information.
    var usable: [PresentAdapter] = []
    /// Of these, those without Low Energy.
    var withoutLowEnergy: Set<UInt16> = []
    /// The answer to Read Unconfigured Index List, and what each misses.
    var unconfigured: [UInt16: MissingOptions] = [:]
    /// All that are in `/sys/class/bluetooth`; nil for one that no socket tells.
    var devices: [UInt16: Device?] = [:]

    /// What stands in the way of the selected controllers, in the order of their numbers; then names that no controller has.
    func problems(_ selection: AdapterSelection) -> [ScanProblem] {
        let hindered = hindrances.filter { selection.includes(adapter($0.key)) }
        let problems = hindered.keys.sorted().compactMap { index in
            hindered[index].map { problem($0, adapter(index)) }
        }
        return problems + [selection.problem(among: present)].compactMap(\.self)
    }

    /// Why no selected controller can be used; nil if one can.
    func absence(_ selection: AdapterSelection) -> ScanProblem? {
        let selected = usable.filter(selection.includes)
        guard let first = selected.first else { return problems(selection).first }
        guard selected.allSatisfy({ withoutLowEnergy.contains($0.index) }) else { return nil }
        return ScanProblem(
            "\(first) cannot do Bluetooth Low Energy", remedy: "use an adapter of Bluetooth 4.0 or later")
    }

    /// All controllers, in the order of their numbers.
    private var present: [PresentAdapter] {
        let numbers = Set(usable.map(\.index)).union(unconfigured.keys).union(devices.keys)
        return numbers.sorted().map(adapter)
    }

    private func adapter(_ index: UInt16) -> PresentAdapter {
        usable.first { $0.index == index } ?? PresentAdapter(index: index, address: devices[index]??.address)
    }

    private var hindrances: [UInt16: Hindrance] {
        var found = unconfigured.mapValues { missing in missing.isEmpty ? .raw : Hindrance.unconfigured(missing) }
        for (index, device) in devices where found[index] == nil && !usable.contains(where: { $0.index == index }) {
            // A program that takes a controller for itself has it up, and the kernel lists it no more.
            found[index] = device?.isRaw == true ? .raw : device?.isUp == true ? .taken : .notSetUp
        }
        return found
    }

    private func problem(_ hindrance: Hindrance, _ adapter: PresentAdapter) -> ScanProblem {
        switch hindrance {
        case .taken:
            ScanProblem(
                "\(adapter) is used by another program for itself (HCI user channel)",
                remedy: "end that program, or give the gateway an adapter of its own (\"adapter\")")
        case .unconfigured(let missing) where missing.contains(.publicAddress):
            ScanProblem(
                "\(adapter) has no address of its own, so the kernel does not use it",
                remedy: "give it one: sudo btmgmt --index \(adapter.index) public-addr ADDRESS; or use another adapter")
        case .unconfigured:
            ScanProblem(
                "\(adapter) is not configured, so the kernel does not use it",
                remedy:
                    "its driver needs a program or a file of the maker: journalctl -k | grep -i bluetooth; or use another adapter"
            )
        case .raw:
            ScanProblem(
                "\(adapter) is a raw device, which the kernel does not use", remedy: "use another adapter")
        case .notSetUp:
            ScanProblem(
                "\(adapter) is not brought up by the kernel: its driver or firmware has failed, or is still loading",
                remedy: "journalctl -k | grep -i -e bluetooth -e firmware shows what is missing")
        }
    }
}
