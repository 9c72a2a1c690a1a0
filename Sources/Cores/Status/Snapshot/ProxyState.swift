package import Base
import Health
import JSON

extension StatusSnapshot {
    /// The Bluetooth proxy of one adapter.
    package struct ProxyState: Hashable, Sendable {
        /// As Home Assistant knows it.
        package var name: String
        /// `hci0`.
        package var adapter: String
        package var port: UInt16
        /// Why it does not listen at its port; nil: it does.
        package var problem: String?
        /// What to do about it. Only the running service knows it; others read it in the findings.
        package var remedy: String?
        /// Whether the broker has its announcement for Home Assistant.
        package var isAtBroker = false
        /// Whether Avahi announces it.
        package var isAtAvahi = false
        /// Why Avahi does not; nil: it does, or has not answered yet.
        package var avahiProblem: String?
        package var clients: [ProxyClient] = []
        /// The Home Assistants that have adopted it, and whether each is connected.
        package var homes: [ProxyHome] = []
        /// Packets, once for each client that got them.
        package var sent: UInt64 = 0
        /// Packets that clients were too slow for.
        package var dropped: UInt64 = 0
        /// Packets that the kernel dropped because they were not read in time.
        package var lost: UInt64 = 0
        /// Subscriptions that were refused.
        package var refused: UInt64 = 0
        /// Connections that ended before their handshake did, or that were too many.
        package var failed: UInt64 = 0

        package init(name: String, adapter: String, port: UInt16) {
            (self.name, self.adapter, self.port) = (name, adapter, port)
        }
    }

    /// A client that knows the key.
    package struct ProxyClient: Hashable, Sendable {
        package var name: String
        package var address: String
        package var isSubscribed: Bool
        package var since: MonotonicInstant
        package var sent: UInt64
        package var dropped: UInt64
        /// Why it gets no packets; nil: it may have them.
        package var refusal: String?

        package init(
            name: String, address: String, isSubscribed: Bool, since: MonotonicInstant, sent: UInt64, dropped: UInt64,
            refusal: String?
        ) {
            (self.name, self.address, self.isSubscribed, self.since) = (name, address, isSubscribed, since)
            (self.sent, self.dropped, self.refusal) = (sent, dropped, refusal)
        }
    }

    /// A Home Assistant that has adopted a proxy.
    package struct ProxyHome: Hashable, Sendable {
        package var address: String
        package var isConnected: Bool

        package init(address: String, isConnected: Bool) { (self.address, self.isConnected) = (address, isConnected) }
    }
}

extension StatusSnapshot.ProxyState {
    func json(at now: MonotonicInstant) -> JSONValue {
        [
            "name": .string(name), "adapter": .shown(adapter), "port": .integer(Int64(port)),
            "problem": .optional(problem.map { .shown($0) }), "broker": .bool(isAtBroker), "avahi": .bool(isAtAvahi),
            "avahiProblem": .optional(avahiProblem.map { .shown($0) }),
            "clients": .array(clients.map { $0.json(at: now) }),
            "homes": .array(homes.map { ["address": .string($0.address), "connected": .bool($0.isConnected)] }),
            "sent": .count(sent), "dropped": .count(dropped), "lost": .count(lost), "refused": .count(refused),
            "failed": .count(failed),
        ]
    }

    /// Who is served, in words.
    package var clientText: String {
        let served = clients.filter(\.isSubscribed)
        guard !served.isEmpty else { return "nobody is served" }
        return served.map { "\($0.name) at \($0.address)" }.joined(separator: ", ")
    }

    var findings: [Finding] {
        let place = "\(name), \(adapter) at port \(port)"
        if let problem {
            return [
                Finding(.error, "proxy", "\(place): \(problem)", remedy: remedy ?? "see the log; it is tried again")
            ]
        }
        let refused = clients.compactMap { client in
            client.refusal.map { reason in
                Finding(
                    .warning, "proxy", "\(name) gives no packets to \(client.address): \(reason)",
                    remedy: "if it is meant: bluetoothProxy: {allow: [\"\(client.address)\"]}, and reload")
            }
        }
        return refused + [Finding(.ok, "proxy", "\(place): \(clientText)")]
    }
}

extension StatusSnapshot.ProxyClient {
    fileprivate func json(at now: MonotonicInstant) -> JSONValue {
        [
            "name": .shown(name), "address": .string(address), "subscribed": .bool(isSubscribed),
            "sinceAgo": .ago(since, at: now), "sent": .count(sent), "dropped": .count(dropped),
            "refusal": .optional(refusal.map { .shown($0) }),
        ]
    }
}
