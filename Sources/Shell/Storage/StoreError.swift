import Glibc

/// Why the state directory cannot be used.
package enum StoreError: Error, Hashable, Sendable {
    case database(DatabaseError)
    /// A later version of this program has written the file. The file is not changed. `writer` is that version, if the file
    /// names it.
    case newerSchema(path: String, found: Int64, known: Int64, writer: String?)
    /// Another gateway uses the same directory. Two gateways would deliver everything twice.
    case inUse(path: String)
    /// There is no state yet.
    case absent(path: String)
    case system(operation: String, path: String, errno: Int32)
    /// The file may belong to another user, such as a link. The reason contains the file and what to do.
    case untrusted(String)

    /// Whether the failure may end by itself or by a person.
    var isPassing: Bool {
        switch self {
        case .database(let error): error.isPassing
        case .newerSchema: false
        case .inUse, .absent, .system, .untrusted: true
        }
    }

    /// Whether there is no room for what was to be written.
    var isDiskFull: Bool {
        switch self {
        case .database(let error): error.isDiskFull
        case .system(_, _, let code): code == ENOSPC || code == EDQUOT
        case .newerSchema, .inUse, .absent, .untrusted: false
        }
    }

    /// Whether the disk does not give out a part of the file or of its log.
    var isUnreadable: Bool { if case .database(let error) = self { error.isUnreadable } else { false } }
}

extension StoreError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .database(let error): error.description
        case .newerSchema(let path, let found, let known, let writer):
            "\(path) was written by a newer version\(writer.map { ", \($0)" } ?? "") (schema \(found), this program knows "
                + "\(known)); install that version again, or move the file away to begin a new one"
        case .inUse(let path): "another ibeacon-gateway uses \(path)"
        case .untrusted(let reason): reason
        case .absent(let path): "there is no \(path) yet"
        case .system(let operation, let path, let errno):
            "cannot \(operation) \(path): \(String(cString: strerror(errno)))"
        }
    }
}
