import Base
import Shell
import System

/// The question for the first region. Its beacon may be named, or held to the antenna.
struct RegionQuestion {
    let arguments: Arguments
    let dialogue: Dialogue

    /// - Parameters:
    ///   - isWanted: Whether a person is asked for a region where no option names one.
    ///   - settings: What to listen with.
    /// - Returns: `NAME:UUID[:MAJOR[:MINOR]]`, or the description of an identity; nil: no region.
    func answer(isWanted: Bool, listening settings: () throws(Failure) -> Settings) throws -> String? {
        let standard = dialogue.isInteractive && isWanted ? "ask" : "none"
        let wish = arguments.value("beacon") ?? standard
        switch wish {
        case "none": return nil
        case "strongest", "ask": return try heard(asks: wish == "ask", settings)
        default: return "\(try name()):\(wish)"
        }
    }

    private func name() throws(Failure) -> String {
        if let name = arguments.value("region") { return name }
        return try dialogue.ask("Name of the first region", "Beacon")
    }

    private func heard(asks: Bool, _ settings: () throws(Failure) -> Settings) throws -> String? {
        let duration = try arguments.seconds("listen") ?? .seconds(10)
        while true {
            dialogue.show(
                "Hold the beacon of your first region to the antenna. Listening for \(decimal(duration)) s …")
            let listener = try BeaconListener.listen(try settings(), for: duration)
            let heard = listener.heard
            guard let best = heard.first else {
                let reason = listener.problems.first ?? "no iBeacon was heard, of \(listener.reports) reports"
                guard asks else { throw Failure(.unavailable, "\(reason); nothing was written") }
                dialogue.show(Terminal.printable(reason))
                guard try dialogue.confirm("Listen again?", true) else { return nil }
                continue
            }
            let rows = heard.prefix(10).map { ["\($0.beacon)", "\($0.strength) dBm", "\($0.reports)"] }
            dialogue.show(Terminal.table(["BEACON", "STRENGTH", "REPORTS"], rows))
            guard asks else { return "\(try name()):\(best.beacon)" }
            if try dialogue.confirm("Make a region of the strongest, \(best.beacon)?", true) {
                return "\(try name()):\(best.beacon)"
            }
            guard try dialogue.confirm("Listen again?", true) else { return nil }
        }
    }
}
