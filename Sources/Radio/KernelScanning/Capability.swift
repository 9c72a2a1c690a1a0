import System

/// The two capabilities that the kernel's Bluetooth interfaces require (linux/capability.h).
package enum Capability: Int, CaseIterable, Sendable {
    case netAdmin = 12
    case netRaw = 13

    package var name: String {
        switch self {
        case .netAdmin: "CAP_NET_ADMIN"
        case .netRaw: "CAP_NET_RAW"
        }
    }

    /// Whether this process has the capability. Read from /proc, because the C library has no capget().
    package var isHeld: Bool {
        guard let effective = Self.effective else { return false }
        return effective >> UInt64(rawValue) & 1 == 1
    }

    /// What does not work without the capability, as the middle of a sentence: "is missing, …".
    package var purpose: String {
        switch self {
        case .netAdmin: "which scanner \"mgmt\" needs"
        case .netRaw:
            "which scanner \"hci\", the check that the controller scans, and the reset of a hung controller need"
        }
    }

    /// What grants the capability: the unit, the options of a container, which `setcap` cannot exceed, or a command.
    package var remedy: String {
        """
        run as the systemd service (its unit grants AmbientCapabilities=\(name)), \
        in a container with --cap-add NET_ADMIN --cap-add NET_RAW, \
        or once: sudo setcap cap_net_admin,cap_net_raw+ep "$(command -v ibeacon-gateway)"
        """
    }

    /// The line `CapEff:` of /proc/self/status.
    private static var effective: UInt64? {
        KernelFile.value(after: "CapEff:", in: "/proc/self/status").flatMap {
            UInt64($0.filter(\.isHexDigit), radix: 16)
        }
    }
}
