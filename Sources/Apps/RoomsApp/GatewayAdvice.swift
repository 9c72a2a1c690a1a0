import Base
import SiteCore
package import SiteProtocol

/// Describes a problem of gateways, for the page, `rooms status` and `doctor`.
package struct GatewayAdvice: Hashable, Sendable {
    package let text: String
    /// What the user can do about it.
    package let remedy: String

    /// Both in one line.
    package var sentence: String { text + (text.hasSuffix("?") ? " " : ": ") + remedy }

    /// Names for a sentence; of many, the first few.
    package static func list(_ names: [String]) -> String {
        names.namedFew(most: mostNamed)
    }

    /// Largest number of gateways or rooms that a sentence names.
    package static let mostNamed = 5

    /// That a gateway was moved or covered, as the survey says.
    ///
    /// - Parameter since: The time at which it was noticed first; nil: that is not known.
    package init(_ change: SurveyHealth.Change, of name: String, since: String?) {
        text = change.text(of: name, since: since)
        remedy = change.remedy(of: name)
    }

    /// - Parameters:
    ///   - trouble: The problem that all these gateways have.
    ///   - names: One gateway, or several separated by commas.
    ///   - site: The site of the gateways.
    package init(_ trouble: GatewayHealth.Trouble, of names: String, site: String) {
        let rights =
            "a gateway needs the right to write below ibeacon-rooms/\(site)/heard, and must not be in quiet mode; "
            + "'ibeacon-gateway doctor' there says more"
        (text, remedy) =
            switch trouble {
            case .sharedName: ("several gateways are called \(names)", "give each a deviceId of its own")
            case .offline:
                (
                    "not at the broker: \(names)",
                    "check power and network, or remove the gateway with 'sudo ibeacon-gateway rooms gateways remove'"
                )
            case .noReadings: ("has said where it stands, and sends no readings: \(names)", rights)
            case .silent: ("sends no readings any more: \(names)", "is it running? \(rights)")
            case .late:
                (
                    "its readings arrive more than five seconds late: \(names)",
                    "check its network and the broker's load; after a change of a clock it counts again within 20 seconds"
                )
            case .notListening: ("does not listen: \(names)", "see 'ibeacon-gateway doctor' there")
            case .exchanged:
                (
                    "may stand in the room of another gateway: \(names)",
                    "if these gateways were not moved, their rooms are exchanged: give each its own 'room' again"
                )
            case .sameRadio:
                (
                    "is left out, because a gateway of the site has the same radio: \(names)",
                    "nothing needs to be done: the gateway is heard in its place"
                )
            case .wrongKey:
                (
                    "sends what cannot be decrypted: \(names)",
                    "give all machines of the site the same key (rooms.encryptionKeyFile), or none"
                )
            case .moved, .covered:
                (
                    "the other gateways hear it otherwise than before: \(names)",
                    "was it moved or covered? If it is to stay so: 'sudo ibeacon-gateway rooms gateways moved'"
                )
            case .deaf: ("receives nothing while others do: \(names)", "check its radio and its antenna")
            }
    }
}
