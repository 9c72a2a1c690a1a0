import Glibc
import System

/// The programs that run on this machine.
enum RunningProgram {
    /// Whether a program of this name runs, as /proc shows it.
    static func exists(_ name: String) -> Bool {
        guard let directory = opendir("/proc") else { return false }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let process = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard process.allSatisfy(\.isNumber), let bytes = try? FileAccess.read("/proc/\(process)/comm") else {
                continue
            }
            if bytes.elementsEqual(Array((name + "\n").utf8)) { return true }
        }
        return false
    }
}
