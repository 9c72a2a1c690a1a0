import Base
import CSystemd
import Glibc

/// systemd's journal, which stores fields with the text, so that `journalctl IBEACON_EVENT=enter` finds entries.
enum Journal {
    /// Whether a descriptor leads to the journal. systemd provides the journal's device and inode (systemd.exec(5),
    /// $JOURNAL_STREAM). After a manual redirection they differ, and then plain lines are written.
    static func isBehind(_ descriptor: Int32, stream: String? = environmentStream) -> Bool {
        let parts = (stream ?? "").split(separator: ":", omittingEmptySubsequences: false).map { UInt64($0) }
        var information = stat()
        guard parts.count == 2, let device = parts[0], let inode = parts[1], fstat(descriptor, &information) == 0 else {
            return false
        }
        return UInt64(information.st_dev) == device && UInt64(information.st_ino) == inode
    }

    private static var environmentStream: String? { getenv("JOURNAL_STREAM").map { String(cString: $0) } }

    /// One entry in the journal's format: `NAME=value`, one array of bytes each. Fields with a name that the journal
    /// does not accept (only upper case letters, digits and `_`, not `_` at the start) are left out.
    static func entry(_ priority: LogPriority, _ text: String, _ fields: [String: String]) -> [[UInt8]] {
        var entry = ["MESSAGE=\(text)", "PRIORITY=\(priority.rawValue)", "SYSLOG_IDENTIFIER=ibeacon-gateway"]
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) where isName(name) {
            entry.append("\(name)=\(value)")
        }
        return entry.map { Array($0.utf8) }
    }

    private static func isName(_ name: String) -> Bool {
        let isWellFormed = name.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
            default: false
            }
        }
        return isWellFormed && (1...64).contains(name.utf8.count)
            && name.first.map { $0 != "_" && !$0.isNumber } == true
    }

    /// - Returns: false if the journal did not accept it.
    static func send(_ entry: [[UInt8]]) -> Bool {
        var all = entry.flatMap { $0 }
        return all.withUnsafeMutableBytes { bytes in
            var vectors: [iovec] = []
            var offset = 0
            for field in entry {
                vectors.append(iovec(iov_base: bytes.baseAddress?.advanced(by: offset), iov_len: field.count))
                offset += field.count
            }
            return sd_journal_sendv(&vectors, Int32(vectors.count)) >= 0
        }
    }
}
