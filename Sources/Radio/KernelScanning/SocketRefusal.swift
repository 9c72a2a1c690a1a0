import Glibc
import Scanning
import System

extension ScanProblem {
    /// Why the kernel gives this process no Bluetooth socket, and what to do.
    ///
    /// - Parameter hasBluetooth: Whether the kernel has Bluetooth (`/sys/class/bluetooth`). The kernel answers `EAFNOSUPPORT` outside of
    ///   the host's network namespace, too.
    static func socketRefusal(_ error: SystemError, hasBluetooth: Bool) -> ScanProblem {
        switch error.code {
        case EPERM, EACCES:
            ScanProblem(
                "this program may open no Bluetooth socket (\(error.message))",
                remedy:
                    "seccomp, AppArmor or SELinux refuses it: allow AF_BLUETOOTH in the container's or the service's profile"
            )
        case EAFNOSUPPORT where hasBluetooth:
            ScanProblem(
                "this program gets no Bluetooth socket (\(error.message)), although the kernel has Bluetooth",
                remedy: "a container needs the host's network (--network host); "
                    + "a systemd unit needs AF_BLUETOOTH in RestrictAddressFamilies=")
        case EAFNOSUPPORT, EPROTONOSUPPORT:
            ScanProblem(
                "the kernel has no Bluetooth (\(error.message))",
                remedy: "plug in an adapter, or: sudo modprobe bluetooth")
        default:
            ScanProblem(
                "no Bluetooth socket can be opened (\(error.message))", remedy: "see: journalctl -k | grep -i bluetooth"
            )
        }
    }

    /// The same for this machine.
    static func socketRefusal(_ error: SystemError) -> ScanProblem {
        socketRefusal(error, hasBluetooth: RadioSwitch.kernelHasBluetooth)
    }
}
