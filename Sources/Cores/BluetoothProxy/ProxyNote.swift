/// What the log says of a proxy.
package enum ProxyNote: Hashable, Sendable {
    /// A client receives packets.
    case subscribed(address: String, name: String)
    /// A client that received packets is gone.
    case left(address: String, name: String, Reason)
    /// Packets were refused to an address.
    case refused(address: String, reason: String)
    /// Connections without the key, or that are none of this protocol: their number since the last such line, and the last one.
    case failed(count: UInt64, address: String, ProxyFailure)

    package enum Reason: Hashable, Sendable {
        /// It said so, or closed the connection.
        case departed
        /// Nothing was heard of it.
        case silent
        /// It sent what this protocol has not, or asked faster than it read.
        case broken
    }
}

extension ProxyNote: CustomStringConvertible {
    package var description: String {
        switch self {
        case .subscribed(let address, let name): "the Bluetooth proxy serves \(name) at \(address)"
        case .left(let address, let name, let reason):
            "the Bluetooth proxy no longer serves \(name) at \(address): \(reason)"
        case .refused(let address, let reason): "the Bluetooth proxy refuses packets to \(address): \(reason)"
        case .failed(let count, let address, let failure):
            "the Bluetooth proxy refused \(count) connection\(count == 1 ? "" : "s"), the last from \(address): \(failure)"
        }
    }
}

extension ProxyNote.Reason: CustomStringConvertible {
    package var description: String {
        switch self {
        case .departed: "it disconnected"
        case .silent: "nothing was heard of it for \(ProxySession.deadAfter.components.seconds) s"
        case .broken: "it broke the protocol"
        }
    }
}
