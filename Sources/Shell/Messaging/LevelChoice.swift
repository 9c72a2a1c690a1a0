package import Base

/// Which version of MQTT is spoken with a broker: 3.1.1 with one that does not speak 5. The services and the test of `doctor` and
/// `setup` share this rule, so that the test does not fail where the service works.
///
/// A broker that does not know a version says so, closes the connection (MQTT 5, section 3.1.2.2), or does not answer at all.
package struct LevelChoice: Hashable, Sendable {
    private enum State: Hashable {
        case preferred
        case fallback(hasBeenAccepted: Bool)
    }

    /// Why the first version failed, while the second one has not been accepted.
    private var firstFailure: BrokerFailure?

    private let preferred: MQTTProtocolLevel
    /// nil: there is no other.
    private let fallback: MQTTProtocolLevel?
    private var state = State.preferred

    /// - Parameter fallback: The version after `preferred`, which it replaces only if that is 5; nil: none.
    package init(preferred: MQTTProtocolLevel, fallback: MQTTProtocolLevel?) {
        (self.preferred, self.fallback) = (preferred, preferred == .v5 ? fallback : nil)
    }

    /// The version to connect with.
    package var level: MQTTProtocolLevel { state == .preferred ? preferred : fallback ?? preferred }

    /// The broker accepted the connection. One that accepts the fallback is spoken to like that from then on.
    package mutating func accepted() {
        firstFailure = nil
        if case .fallback = state { state = .fallback(hasBeenAccepted: true) }
    }

    /// The failure that names the cause, of the one that an attempt ended with and that of the version before it. A forbidden packet
    /// is the cause of both; in the words of the second version it is only a packet of another version.
    ///
    /// Ask before `failed`.
    package func cause(of failure: BrokerFailure) -> BrokerFailure {
        guard case .fallback(hasBeenAccepted: false) = state, case .invalidPacket? = firstFailure else {
            return failure
        }
        return failure.isAboutProtocol && !failure.isNotAccepted || failure == .silent
            ? firstFailure ?? failure : failure
    }

    /// What the end of an attempt means for the next one.
    package enum Verdict: Hashable, Sendable {
        case asBefore
        /// Another version is tried at once.
        case atOnce
        /// Another version is tried after the usual pause.
        case later
    }

    /// An attempt ended before the broker accepted it.
    package mutating func failed(_ failure: BrokerFailure) -> Verdict {
        switch state {
        case .preferred where fallback != nil && (failure.isAboutProtocol || failure == .silent):
            state = .fallback(hasBeenAccepted: false)
            firstFailure = failure
            return .atOnce
        case .fallback(hasBeenAccepted: false):
            state = .preferred
            firstFailure = nil
            return .later
        default: return .asBefore
        }
    }
}
