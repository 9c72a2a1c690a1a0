import Glibc
import System

/// systemd's unit of this program.
enum SystemService {
    static let unit = "ibeacon-gateway.service"

    /// Whether systemd runs this machine and knows the unit.
    static var isInstalled: Bool {
        FileAccess.exists("/run/systemd/system")
            && ["/lib/systemd/system/", "/usr/lib/systemd/system/", "/etc/systemd/system/"].contains {
                FileAccess.exists($0 + unit)
            }
    }

    /// Whether the service has a control group. No other process is asked.
    static var isRunning: Bool { FileAccess.exists("/sys/fs/cgroup/system.slice/\(unit)") }

    /// Runs `systemctl` with these words and waits for it.
    /// - Returns: its exit status; -1 if it could not be run.
    static func control(_ words: String...) -> Int32 {
        var arguments: [UnsafeMutablePointer<CChar>?] = (["systemctl"] + words).map { strdup($0) }
        defer { arguments.forEach { free($0) } }
        arguments.append(nil)
        var child = pid_t()
        guard posix_spawnp(&child, "systemctl", nil, nil, arguments, environ) == 0 else { return -1 }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { return -1 }
        }
        return status & 0x7f == 0 ? (status >> 8) & 0xff : -1
    }
}
