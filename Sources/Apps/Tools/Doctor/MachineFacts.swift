import Configuration
import GatewayApp
import Glibc
import JSON
import KernelScanning
import Shell
import System

/// The parts of a report that do not change while the service runs.
enum MachineFacts {
    /// Board, kernel and system.
    static func machine() -> MachineReport {
        var system = utsname()
        let hasNames = uname(&system) == 0
        let release = hasNames ? text(&system.release) : nil
        let architecture = hasNames ? text(&system.machine) : nil
        return .section([
            ("board", board()), ("kernel", .text(release, otherwise: "uname failed")),
            ("architecture", .text(architecture, otherwise: "uname failed")),
            (
                "system",
                .text(
                    KernelFile.value(after: "PRETTY_NAME=", in: "/etc/os-release")?.filter { $0 != "\"" },
                    otherwise: "/etc/os-release does not say")
            ),
            ("processors", .number(Double(sysconf(CInt(_SC_NPROCESSORS_ONLN))), otherwise: "sysconf failed")),
            ("memoryMiB", memory()),
        ])
    }

    /// Adapters, bluetoothd, and the settings of the scanner.
    static func bluetooth(_ settings: Settings) -> MachineReport {
        let configuration = settings.configuration
        let controllers = ControllerFacts.read(configuration.adapterSelection)
        return .section([
            ("bluetoothd", bluetoothd()), ("bluetoothdRuns", .known(.bool(OtherProgram.runs("bluetoothd")))),
            ("scannerSetting", .known(.string(configuration.scanner.name))),
            ("scanDutySetting", .known(configuration.scanDuty.map { .plain($0) } ?? "auto")),
            (
                "controllers",
                controllers.isEmpty
                    ? .unknown("there is no adapter, or the kernel has no Bluetooth")
                    : .list(controllers.map { self.controller($0) })
            ),
        ])
    }

    static func controller(_ facts: ControllerFacts, sysfs: String = "/sys") -> MachineReport {
        let antenna = SharedAntenna(sysfs: sysfs)
        let silent = "the controller did not answer within 2 s, or CAP_NET_RAW is missing"
        return .section([
            ("name", .known(.string("hci\(facts.index)"))),
            ("attachedBy", .text(antenna.attachment(of: facts.index), otherwise: "sysfs does not show it")),
            ("sharesAntennaWithActiveWiFi", .known(.bool(antenna.wiFi(beside: facts.index) != nil))),
            ("isOn", .known(.bool(facts.isPowered))),
            ("hciVersion", .known(.integer(Int64(facts.version)))),
            ("manufacturer", .known(.integer(Int64(facts.manufacturer)))),
            ("supportedSettings", .known(.array(facts.supportedSettings.map { .string($0) }))),
            ("extendedScanning", facts.hasExtendedScanning.map { .known(.bool($0)) } ?? .unknown(silent)),
            (
                "lowEnergyFeatures",
                // Bit numbers, not digits: 16 hexadecimal digits look like an identity.
                facts.lowEnergyFeatures.map { features in
                    .known(.array((0..<64).filter { features >> $0 & 1 == 1 }.map { .integer(Int64($0)) }))
                } ?? .unknown(silent)
            ),
            (
                "monitorsSet",
                facts.monitors.map { .known(.integer(Int64($0))) }
                    ?? .unknown("the kernel does not say (before Linux 5.10, or CAP_NET_ADMIN is missing)")
            ),
        ])
    }

    private static func board() -> MachineReport {
        // The file holds a C string, whose last octet is zero.
        if let model = KernelFile.firstLine("/proc/device-tree/model") {
            return .text(model, otherwise: "the model is empty")
        }
        return .text(
            KernelFile.firstLine("/sys/class/dmi/id/product_name"),
            otherwise: "neither a device tree nor DMI names it")
    }

    private static func memory() -> MachineReport {
        let pages = sysconf(CInt(_SC_PHYS_PAGES))
        let size = sysconf(CInt(_SC_PAGESIZE))
        guard pages > 0, size > 0 else { return .unknown("sysconf failed") }
        return .known(.integer((Int64(pages) * Int64(size)) >> 20))
    }

    /// The version of bluetoothd, from the program itself. D-Bus does not provide it.
    private static func bluetoothd() -> MachineReport {
        let places = ["/usr/libexec/bluetooth/bluetoothd", "/usr/lib/bluetooth/bluetoothd", "/usr/sbin/bluetoothd"]
        guard let program = places.first(where: { access($0, X_OK) == 0 }) else {
            return .unknown("bluetoothd is not installed")
        }
        guard let output = OtherProgram.run([program, "--version"], isCaptured: true) else {
            return .unknown("bluetoothd could not be started")
        }
        return .text(
            output.split(separator: "\n").first.map(String.init), otherwise: "bluetoothd --version printed nothing")
    }

    /// A C string in a tuple, which is how Swift imports an array in a C structure.
    private static func text<Tuple>(_ tuple: inout Tuple) -> String {
        withUnsafeBytes(of: &tuple) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
