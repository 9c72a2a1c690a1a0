package import Base

/// What was learned of one key by listening.
package struct PhoneHearing: Hashable, Sendable {
    /// With the order of its octets, if that is known by now.
    package let phone: PhoneKey
    /// nil: not since the start.
    package let lastHeard: MonotonicInstant?

    package init(phone: PhoneKey, lastHeard: MonotonicInstant?) {
        (self.phone, self.lastHeard) = (phone, lastHeard)
    }
}
