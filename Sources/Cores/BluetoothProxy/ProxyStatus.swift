package import Base

/// What `status`, the page and the metrics show of a proxy.
package struct ProxyStatus: Hashable, Sendable {
    package struct Client: Hashable, Sendable {
        package let address: String
        /// What the client calls itself, such as `Home Assistant 2026.11.0`. Bytes that cannot be printed are replaced.
        package let name: String
        /// Whether the proxy has dialled it.
        package let isDialled: Bool
        package let isSubscribed: Bool
        package let since: MonotonicInstant
        /// Packets that were sent to it.
        package let sent: UInt64
        /// Packets that it was too slow for.
        package let dropped: UInt64
        /// Bytes that wait for it.
        package let queued: Int
        /// Why it gets no packets; nil: it may have them.
        package let refusal: String?
    }

    package struct Home: Hashable, Sendable {
        package let address: String
        package let isConnected: Bool
    }

    /// Totals since the start, of all clients.
    package struct Counters: Hashable, Sendable {
        /// Packets, once for each client that got them.
        package var sent: UInt64 = 0
        package var dropped: UInt64 = 0
        /// Subscriptions that were refused.
        package var refused: UInt64 = 0
        /// Connections that ended before their handshake did, or that were too many.
        package var failed: UInt64 = 0

        package init() {}
    }

    /// The clients that know the key, at most four, in the order of their connections.
    package let clients: [Client]
    /// The Home Assistants that have adopted the proxy, at most four.
    package let homes: [Home]
    package let counters: Counters
}
