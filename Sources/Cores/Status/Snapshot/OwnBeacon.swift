import Base
package import Beacon
import Health
import JSON

extension StatusSnapshot {
    /// The beacon that the site asks this gateway to send, so that the other gateways hear it.
    package struct OwnBeacon: Hashable, Sendable {
        package let beacon: BeaconID
        /// The mean time between two packets, as the controller was told; nil: it has not confirmed yet that it sends.
        package var interval: Duration?
        /// The adapter that sends; nil: none does.
        package var adapter: String?
        /// How long of each minute the packets come; nil: all the time.
        package var burst: Duration?
        /// Why it is not sent; nil: it is, or nobody has answered yet.
        package var problem: Problem?

        package init(_ beacon: BeaconID) { self.beacon = beacon }
    }
}

extension StatusSnapshot.OwnBeacon {
    var json: JSONValue {
        [
            "beacon": .string("\(beacon)"), "adapter": .optional(adapter.map { .shown($0) }),
            "interval": .optional(interval.map { .integer($0.nanoseconds / 1_000_000) }),
            "burst": .optional(burst.map { .integer($0.components.seconds) }),
            "problem": .optional(problem.map { ["text": .shown($0.text), "cure": .shown($0.remedy)] }),
        ]
    }

    /// `sent`, `not sent`, or what is known before the controller has answered.
    package var word: String { problem != nil ? "not sent" : interval != nil ? "sent" : "asked for" }

    /// In words, without `word`.
    package var text: String {
        if let problem { return "\(beacon): \(problem.text)" }
        guard let interval, let adapter else { return "\(beacon): the controller has not confirmed it yet" }
        let pace =
            burst.map { "in \($0.components.seconds) s of each minute" }
            ?? "one packet each \(interval.nanoseconds / 1_000_000) ms"
        return "\(beacon) by \(adapter), \(pace)"
    }

    var finding: Finding {
        guard let problem else { return Finding(.ok, "survey", "the beacon for the other gateways: \(word), \(text)") }
        return Finding(
            .warning, "survey", "the beacon for the other gateways is not sent: \(problem.text)", remedy: problem.remedy
        )
    }
}
