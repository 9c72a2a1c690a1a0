package import Rooms

/// What is wrong with gateways of a site, in words: for the page, `rooms status` and `doctor`.
package struct GatewayAdvice: Hashable, Sendable {
    package let text: String
    /// What to do about it.
    package let cure: String

    /// - Parameters:
    ///   - trouble: The same of all of them.
    ///   - names: One gateway, or several with commas between them.
    ///   - site: Of which they are.
    package init(_ trouble: GatewayHealth.Trouble, of names: String, site: String) {
        let rights =
            "a gateway needs the right to write below ibeacon-rooms/\(site)/heard, and must not be in quiet mode; "
            + "'ibeacon-gateway doctor' there says more"
        (text, cure) =
            switch trouble {
            case .sharedName: ("several gateways are called \(names)", "give each a deviceId of its own")
            case .offline:
                (
                    "not at the broker: \(names)",
                    "look at power and network, or forget the gateway with 'ibeacon-gateway rooms gateways remove'"
                )
            case .noReadings: ("has said where it stands, and sends no readings: \(names)", rights)
            case .silent: ("sends no readings any more: \(names)", "does it run? \(rights)")
            case .notListening: ("does not listen: \(names)", "see 'ibeacon-gateway doctor' there")
            case .deaf: ("receives nothing while others do: \(names)", "look at its radio and its antenna")
            }
    }
}
