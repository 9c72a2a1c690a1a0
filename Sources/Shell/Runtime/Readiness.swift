import CSystemd

/// The conditions of a descriptor that are reported or watched for.
package struct Readiness: OptionSet, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let readable = Readiness(rawValue: EPOLLIN.rawValue)
    package static let writable = Readiness(rawValue: EPOLLOUT.rawValue)
    /// Exceptional data; a sysfs attribute or a netlink-like source that changed.
    package static let priority = Readiness(rawValue: EPOLLPRI.rawValue)
    /// The other end was closed; always reported.
    package static let hangUp = Readiness(rawValue: EPOLLHUP.rawValue)
    /// The descriptor failed; always reported.
    package static let failure = Readiness(rawValue: EPOLLERR.rawValue)
}
