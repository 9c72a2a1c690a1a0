import Base
import Health
import JSON

extension StatusSnapshot.ProxyState {
    init?(reading json: JSONValue, at now: MonotonicInstant) {
        guard let name = json["name"]?.string else { return nil }
        self.init(
            name: name, adapter: json["adapter"]?.string ?? "",
            port: UInt16(truncatingIfNeeded: json["port"]?.whole(in: 0...65_535) ?? 0))
        problem = json["problem"]?.string
        isAtBroker = json["broker"] == .bool(true)
        isAtAvahi = json["avahi"] == .bool(true)
        avahiProblem = json["avahiProblem"]?.string
        clients = json["clients"].elements { StatusSnapshot.ProxyClient(reading: $0, at: now) }
        homes = json["homes"].elements { home in
            home["address"]?.string.map { .init(address: $0, isConnected: home["connected"] == .bool(true)) }
        }
        sent = json["sent"]?.asCount ?? 0
        dropped = json["dropped"]?.asCount ?? 0
        lost = json["lost"]?.asCount ?? 0
        refused = json["refused"]?.asCount ?? 0
        failed = json["failed"]?.asCount ?? 0
    }
}

extension StatusSnapshot.ProxyClient {
    fileprivate init?(reading json: JSONValue, at now: MonotonicInstant) {
        guard let address = json["address"]?.string else { return nil }
        self.init(
            name: json["name"]?.string ?? "", address: address, isSubscribed: json["subscribed"] == .bool(true),
            since: json["sinceAgo"]?.instant(before: now) ?? now, sent: json["sent"]?.asCount ?? 0,
            dropped: json["dropped"]?.asCount ?? 0, refusal: json["refusal"]?.string)
    }
}
