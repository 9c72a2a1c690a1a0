import Glibc
import System

/// Whether a Bluetooth adapter has one antenna with a Wi-Fi interface, by what sysfs says of both.
///
/// The chips on the boards of the Raspberry Pi do Wi-Fi over SDIO (driver brcmfmac) and Bluetooth over a UART, with one
/// antenna (device trees of the boards: `brcm,bcm4329-fmac` below an MMC controller, `brcm,bcm43438-bt` below a UART). An
/// adapter on USB is a device with its own antenna.
package struct SharedAntenna {
    private let sysfs: String

    /// - Parameter sysfs: Where sysfs is mounted.
    package init(sysfs: String = "/sys") { self.sysfs = sysfs }

    /// - Returns: The Wi-Fi interface that is up and shares the antenna of this adapter; nil: none does.
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

    /// How the adapter is attached: `UART`, `USB`, `SDIO`, `PCI` or `virtual`; nil: sysfs does not show it.
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

    /// A device of the kernel's serial bus (`serial0-0`), or of a terminal that `btattach` has given to the kernel. A UART on
    /// USB belongs to a device of its own.
    private static func isOnUART(_ device: [Substring]) -> Bool {
        !isOnUSB(device) && device.contains { $0 == "tty" || $0.hasPrefix("serial") && $0.contains("-") }
    }

    /// The parts of the path behind all links; nil if there is nothing.
    private func parts(of path: String) -> [Substring]? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved).split(separator: "/")
    }
}
