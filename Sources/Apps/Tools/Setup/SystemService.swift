import Glibc
import System

/// A systemd unit of this program.
struct SystemService {
    static let gateway = SystemService(unit: "ibeacon-gateway.service")
    static let rooms = SystemService(unit: "ibeacon-gateway-rooms.service")

    let unit: String

    /// Whether systemd runs this machine and knows the unit.
    var isInstalled: Bool {
        FileAccess.exists("/run/systemd/system")
            && ["/lib/systemd/system/", "/usr/lib/systemd/system/", "/etc/systemd/system/"].contains {
                FileAccess.exists($0 + unit)
            }
    }

    /// Whether the service has a control group. This needs no other process.
    var isRunning: Bool { FileAccess.exists("/sys/fs/cgroup/system.slice/\(unit)") }

    /// Only root may start and stop services.
    var mayBeControlled: Bool { geteuid() == 0 }

    /// Runs `systemctl` with these words for this unit and waits for it.
    ///
    /// - Returns: Whether `systemctl` succeeded.
    func control(_ words: String...) -> Bool {
        OtherProgram.run(["systemctl"] + words + [unit]) != nil
    }
}
