package import Beacon
package import Identities

/// How an enrolment ended.
package enum EnrolmentOutcome: Hashable, Sendable {
    /// - Parameter isTested: Whether the key resolves the address under which the phone connected. It is false if that was a
    ///   fixed address.
    case enrolled(IdentityKey, isTested: Bool)
    /// The device has paired and has given no key: its address, which is fixed then.
    case noKey(DeviceAddress?)
    /// The key does not resolve the address under which the phone connected.
    case wrongKey
    case timeout(refusals: Int)
    case interrupted
    case failed(String)
}
