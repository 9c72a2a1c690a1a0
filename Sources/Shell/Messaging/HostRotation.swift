import Base

/// Which of a cluster's hosts is tried next.
///
/// A host is left when it accepts no connection, or ends one before it has lasted. A host whose lasting connection ended is
/// tried once more: a broker that restarts is back within seconds, and the session is there.
struct HostRotation: Hashable, Sendable {
    private let hosts: [String]
    private var index = 0

    /// - Parameter hosts: Not empty.
    init(_ hosts: [String]) { self.hosts = hosts }

    var current: String { hosts[index] }

    /// An attempt or a connection ended.
    ///
    /// - Parameter duration: For how long the connection lasted; nil: the broker did not accept it.
    /// - Returns: the host to try instead; nil: the same again.
    mutating func connectionEnded(after duration: Duration?) -> String? {
        guard hosts.count > 1, duration.map({ $0 < Backoff.lasting }) ?? true else { return nil }
        index = (index + 1) % hosts.count
        return current
    }
}
