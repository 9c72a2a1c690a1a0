import Base
import Beacon
import SiteProtocol

/// Which scanners of Home Assistant have the radio of a gateway that is heard. One radio must not count twice, so they are left out.
///
/// Any client may write a card. So a card takes nothing from a scanner unless readings of its gateway count.
struct SharedRadios: Sendable {
    /// The gateways whose cards name the adapter, by its address.
    private var gateways: [DeviceAddress: Set<String>] = [:]
    /// The scanners that are left out.
    private(set) var leftOut: Set<String> = []

    /// Records that a gateway has another card than before.
    mutating func replace(_ old: GatewayCard?, by new: GatewayCard?, of gateway: String) {
        for address in old?.adapters ?? [] {
            gateways[address]?.remove(gateway)
            if gateways[address]?.isEmpty == true { gateways[address] = nil }
        }
        for address in new?.adapters ?? [] { gateways[address, default: []].insert(gateway) }
        if new?.source == nil { leftOut.remove(gateway) }
    }

    /// Decides about a message of a gateway or a scanner.
    ///
    /// - Returns: The gateway with the same radio, and whether that is new; nil if the message counts.
    mutating func judge(
        _ receiver: String, _ card: GatewayCard?, isFeeding: (String) -> Bool
    ) -> (gateway: String, isNew: Bool)? {
        guard let source = card?.source else { return nil }
        guard let gateway = gateways[source]?.filter({ $0 != receiver && isFeeding($0) }).min() else {
            leftOut.remove(receiver)
            return nil
        }
        return (gateway, leftOut.insert(receiver).inserted)
    }

    /// What the log says of a scanner that is left out.
    static func finding(_ scanner: String, of gateway: String) -> Site.Effect {
        let text =
            "\(scanner) of Home Assistant is left out: the gateway \(gateway) has the same radio, and is heard in its place"
        return .log(.info, text, once: "radio \(scanner)")
    }
}
