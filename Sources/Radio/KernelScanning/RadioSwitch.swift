import System

/// The kernel's radio switch (rfkill) of an adapter, read from sysfs.
enum RadioSwitch {
    /// Whether a program (soft) or a switch on the machine (hard) forbids the radio.
    static func isBlocked(_ index: UInt16) -> Bool {
        let adapter = "/sys/class/bluetooth/hci\(index)"
        return KernelFile.names(in: adapter).contains { name in
            name.hasPrefix("rfkill")
                && ["soft", "hard"].contains { KernelFile.firstLine("\(adapter)/\(name)/\($0)") == "1" }
        }
    }
}
