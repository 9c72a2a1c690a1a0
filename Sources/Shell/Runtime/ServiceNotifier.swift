import CSystemd
import Glibc

/// Reports to the service manager (sd_notify(3)). Outside systemd it does nothing.
package struct ServiceNotifier: Sendable {
    package init() {}

    /// Start-up is complete, or a reload is.
    package func ready(status: String? = nil) {
        send(fields: ["READY=1"], status: status)
    }

    /// One line for `systemctl status`.
    package func status(_ text: String) {
        send(fields: [], status: text)
    }

    /// A reload begins; `ready` ends it.
    ///
    /// `Type=notify-reload` requires CLOCK_MONOTONIC in microseconds, to distinguish this reload from an earlier one.
    /// It is read here because the program's instants are on CLOCK_BOOTTIME.
    package func reloading() {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let microseconds = UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1_000
        send(fields: ["RELOADING=1", "MONOTONIC_USEC=\(microseconds)"], status: nil)
    }

    /// The service is stopping.
    package func stopping(status: String? = nil) {
        send(fields: ["STOPPING=1"], status: status)
    }

    private func send(fields: [String], status: String?) {
        var lines = fields
        if let status {
            // A line break would begin another field.
            lines.append("STATUS=" + String(status.map { $0.isNewline ? " " : $0 }))
        }
        // The service continues if the manager cannot be reached.
        _ = sd_notify(0, lines.joined(separator: "\n"))
    }
}
