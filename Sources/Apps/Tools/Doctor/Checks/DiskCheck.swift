import Base
import Configuration
import Glibc
import Shell
import Storage
import System

/// The state directory: its disk, and what is stored there.
enum DiskCheck {
    static func findings(_ settings: Settings) -> [DoctorFinding] {
        let directory = settings.stateDirectory
        guard !FileAccess.isMissing(directory) else {
            return [DoctorFinding(.disk, "\(directory) does not exist yet; the service creates it")]
        }
        let receiver = settings.configuration.broker.receiver
        return [room(directory)] + state(directory, receiver, at: Clocks.wallSeconds())
    }

    /// Smallest free space, bytes. The state is small, but a disk with less space is soon filled by other programs.
    private static let leastRoom: UInt64 = 50 << 20

    private static func room(_ directory: String) -> DoctorFinding {
        var information = statvfs()
        guard statvfs(directory, &information) == 0 else {
            return DoctorFinding(
                .disk, "\(directory): \(FileAccess.lastError)", remedy: "run: sudo ibeacon-gateway doctor")
        }
        let free = UInt64(information.f_bavail) * UInt64(information.f_frsize)
        if UInt(information.f_flag) & UInt(ST_RDONLY) != 0 {
            return DoctorFinding(
                .disk, "the file system of \(directory) is read-only",
                remedy: "a worn card becomes read-only: check journalctl -k, and have a new card ready")
        }
        // A file system without a fixed number of files has none of them.
        return room(
            directory, free: free, takesFiles: information.f_ffree > 0 || information.f_files == 0)
    }

    /// - Parameters:
    ///   - free: Bytes.
    ///   - takesFiles: Whether the file system has a place (an inode) for another file.
    static func room(_ directory: String, free: UInt64, takesFiles: Bool) -> DoctorFinding {
        let place = "\(free >> 20) MiB are free at \(directory)"
        guard free >= leastRoom else {
            return DoctorFinding(.disk, "only \(place)", remedy: "make room: sudo journalctl --vacuum-size=50M")
        }
        guard takesFiles else {
            return DoctorFinding(
                .disk, "\(place), and the file system takes no more files: all inodes are used",
                remedy: "delete files; where the most are: sudo du --inodes -x / | sort -n | tail")
        }
        return DoctorFinding(.disk, place)
    }

    /// Seconds for which a refused message is a problem to fix.
    private static let refusalLasts: Int64 = 86_400

    /// - Parameters:
    ///   - receiver: `broker` or `server`.
    ///   - now: Epoch seconds.
    static func state(_ directory: String, _ receiver: String = "broker", at now: Int64) -> [DoctorFinding] {
        do {
            let summary = try StoreReader(directory: directory).summary(since: now - refusalLasts)
            let waiting = summary.waiting.values.reduce(0, +)
            let kept = DoctorFinding(
                .disk,
                "\(counted(waiting, "message")) wait\(waiting == 1 ? "s" : "") for the \(receiver), "
                    + "\(counted(summary.transitions, "transition")) kept")
            return [refusals(summary, receiver), kept].compactMap { $0 }
        } catch StoreError.absent {
            return []
        } catch {
            let remedy =
                geteuid() == 0
                ? "stop the service, and move that file away; the service creates a new one"
                : "run: sudo ibeacon-gateway doctor"
            return [DoctorFinding(.disk, "the state cannot be read: \(error)", remedy: remedy)]
        }
    }

    /// The messages that the receiver refused; nil: none is kept.
    private static func refusals(_ summary: StoreSummary, _ receiver: String) -> DoctorFinding? {
        guard let latest = summary.refused.first else { return nil }
        let remedy = "fix the reason that the \(receiver) gives; new messages are not delayed"
        func refused(_ count: Int, _ age: String) -> String {
            let messages = counted(count, "message")
            return "the \(receiver) refused \(messages)\(age), the latest: \(latest.reason)"
        }
        guard summary.recentlyRefused > 0 else {
            let text = refused(summary.refusedRows, ", none in the last day")
            return DoctorFinding(.disk, text, advice: "if it still refuses such messages: \(remedy)")
        }
        return DoctorFinding(.disk, refused(summary.recentlyRefused, " in the last day"), remedy: remedy)
    }
}
