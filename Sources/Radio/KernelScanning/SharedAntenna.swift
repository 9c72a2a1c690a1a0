import Glibc
import System

/// Whether a Bluetooth adapter shares its antenna with a Wi-Fi interface, according to sysfs.
///
/// The chips on the boards of the Raspberry Pi do Wi-Fi over SDIO (driver brcmfmac) and Bluetooth over a UART, with one
/// antenna (device trees of the boards: `brcm,bcm4329-fmac` below an MMC controller, `brcm,bcm43438-bt` below a UART). An
/// adapter on USB is a device with its own antenna.
package struct SharedAntenna {
    private let sysfs: String

    /// - Parameter sysfs: Where sysfs is mounted.
    package init(sysfs: String = "/sys") { self.sysfs = sysfs }

    /// - Returns: The Wi-Fi interface that is up and shares the antenna of this adapter; nil if none does.
    package func wiFi(beside index: UInt16) -> String? {
        guard let adapter = parts(of: "\(sysfs)/class/bluetooth/hci\(index)"), Self.isOnUART(adapter) else {
            return nil
        }
        return KernelFile.names(in: "\(sysfs)/class/net").sorted().first { name in
            let interface = "\(sysfs)/class/net/\(name)"
            guard let device = parts(of: interface), device.contains("mmc_host"),
                parts(of: "\(interface)/device/driver")?.last == "brcmfmac"
            else { return false }
            return KernelFile.firstLine("\(interface)/operstate") == "up"
        }
    }

    /// How the adapter is attached: `UART`, `USB`, `SDIO`, `PCI` or `virtual`; nil if sysfs does not show it.
    package func attachment(of index: UInt16) -> String? {
        guard let device = parts(of: "\(sysfs)/class/bluetooth/hci\(index)") else { return nil }
        if Self.isOnUART(device) { return "UART" }
        if Self.isOnUSB(device) { return "USB" }
        if device.contains("mmc_host") { return "SDIO" }
        if device.contains("virtual") { return "virtual" }
        return device.contains { $0.hasPrefix("pci") } ? "PCI" : nil
    }

    private static func isOnUSB(_ device: [Substring]) -> Bool {
        device.contains { $0.hasPrefix("usb") && $0.dropFirst(3).allSatisfy(\.isNumber) }
    }

    /// Whether it is a device of the kernel's serial bus (`serial0-0`), or of a terminal that `btattach` gave to the kernel. A
    /// UART on USB belongs to another device.
    private static func isOnUART(_ device: [Substring]) -> Bool {
        !isOnUSB(device) && device.contains { $0 == "tty" || $0.hasPrefix("serial") && $0.contains("-") }
    }

    /// The parts of the path with all links resolved; nil if it does not exist.
    private func parts(of path: String) -> [Substring]? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved).split(separator: "/")
    }
}
