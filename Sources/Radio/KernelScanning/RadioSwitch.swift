import System

/// The kernel's radio switch (rfkill) of an adapter, read from sysfs.
package enum RadioSwitch {
    private static let folder = "/sys/class/bluetooth"

    /// Whether the kernel has Bluetooth at all.
    static var kernelHasBluetooth: Bool { FileAccess.exists(folder) }

    /// The numbers of all controllers, in whatever state. Connections are in the same folder: `hci0:64`.
    static var devices: [UInt16] {
        KernelFile.names(in: folder).compactMap { $0.hasPrefix("hci") ? UInt16($0.dropFirst(3)) : nil }.sorted()
    }

    static func hasDevice(_ index: UInt16) -> Bool { FileAccess.exists("\(folder)/hci\(index)") }

    /// Whether a program (soft) or a switch on the machine (hard) forbids the radio.
    package static func isBlocked(_ index: UInt16) -> Bool {
        let adapter = "\(folder)/hci\(index)"
        return KernelFile.names(in: adapter).contains { name in
            name.hasPrefix("rfkill")
                && ["soft", "hard"].contains { KernelFile.firstLine("\(adapter)/\(name)/\($0)") == "1" }
        }
    }
}
