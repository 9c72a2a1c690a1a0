import Base
import Shell
import System

/// The question for the first regions. A beacon may be named by an option, or is heard nearby and given a name.
struct BeaconQuestion {
    let arguments: Arguments
    let dialogue: Dialogue

    /// The most beacons that a person is asked about, the strongest first.
    private static let mostAsked = 10

    /// The options that say more of the beacon, or of how it is found.
    private static let details = ["region", "person", "listen"]

    /// Refuses options that would have no effect: details where no beacon is chosen, and a time to listen where the beacon is known.
    ///
    /// - Parameter asks: Whether a person is asked.
    static func check(_ arguments: Arguments, asks: Bool) throws(Failure) {
        let beacon = arguments.value("beacon")
        let isChosen = beacon.map { $0 != "none" } ?? asks
        for option in details where !isChosen && arguments.has(option) {
            throw Failure(
                .usage,
                "--\(option) is for the beacon of --beacon, and \(beacon == nil ? "none is named" : "that is none"); "
                    + "add --beacon strongest, or --beacon UUID:MAJOR:MINOR")
        }
        if let beacon, beacon != "strongest", arguments.has("listen") {
            throw Failure(.usage, "--listen is for --beacon strongest; with --beacon \(beacon) nothing is listened for")
        }
    }

    /// - Parameters:
    ///   - isWanted: Whether a person is asked where no option says anything of a beacon.
    ///   - settings: What to listen with.
    func answer(isWanted: Bool, listening settings: () throws(Failure) -> Settings) throws -> [NamedBeacon] {
        switch arguments.value("beacon") {
        case nil:
            guard dialogue.isInteractive, isWanted || Self.details.contains(where: arguments.has) else { return [] }
            return try asked(settings)
        case "none"?: return []
        case "strongest"?:
            let heard = try listen(settings)
            guard let best = heard.beacons.first else {
                throw Failure(.unavailable, "\(heard.reason); nothing was written")
            }
            return [try named("\(best.beacon)")]
        case let beacon?:
            try check(beacon)
            return [try named(beacon)]
        }
    }

    /// - Throws: `Failure` if a word for the command `regions add` is given, which begins with a name.
    private func check(_ wish: String) throws(Failure) {
        guard let colon = wish.firstIndex(of: ":"), (try? SetupRegions.region("Beacon:\(wish)")) == nil else { return }
        let (name, beacon) = (String(wish[..<colon]), String(wish[wish.index(after: colon)...]))
        guard (try? SetupRegions.region(wish)) != nil, !beacon.isEmpty else { return }
        throw Failure(
            .usage,
            "--beacon '\(wish)' begins with the name '\(name)'; the name goes into --region: "
                + "--region \(ShellWord.quoted(name)) --beacon \(ShellWord.quoted(beacon))"
        )
    }

    /// A beacon that an option chose.
    private func named(_ beacon: String) throws -> NamedBeacon {
        let name = try arguments.value("region") ?? dialogue.ask("Name of the beacon", "Beacon")
        return NamedBeacon(name: name, beacon: beacon, isPersons: arguments.has("person"))
    }

    private func listen(
        _ settings: () throws(Failure) -> Settings
    ) throws -> (beacons: [BeaconListener.Heard], reason: String) {
        let duration = try arguments.seconds("listen") ?? .seconds(10)
        dialogue.show("Hold your beacons close to the antenna. Listening for \(decimal(duration)) s …")
        let listener = try BeaconListener.listen(try settings(), for: duration)
        let reason = listener.problems.first ?? "no iBeacon was heard among \(listener.reports) reports"
        return (listener.heard, reason)
    }

    private func asked(_ settings: () throws(Failure) -> Settings) throws -> [NamedBeacon] {
        while true {
            let (heard, reason) = try listen(settings)
            guard !heard.isEmpty else {
                dialogue.show(Terminal.printable(reason))
                guard try dialogue.confirm("Listen again?", true) else { return [] }
                continue
            }
            let near = heard.prefix(Self.mostAsked)
            let rows = near.map { ["\($0.beacon)", "\($0.strength) dBm", "\($0.reports)"] }
            dialogue.show(Terminal.table(["BEACON", "STRENGTH", "REPORTS"], rows))
            var named: [NamedBeacon] = []
            for heard in near {
                if let answer = try name(of: heard, besides: named) { named.append(answer) }
            }
            guard named.isEmpty, try dialogue.confirm("Listen again?", false) else { return named }
        }
    }

    private func name(of heard: BeaconListener.Heard, besides others: [NamedBeacon]) throws -> NamedBeacon? {
        while true {
            let standard = others.isEmpty ? arguments.value("region") ?? "" : ""
            let name = try dialogue.ask("Name of \(heard.beacon) (empty: none)", standard)
            guard !name.isEmpty else { return nil }
            do throws(Failure) {
                _ = try SetupRegions.region("\(name):\(heard.beacon)")
            } catch {
                dialogue.show(error.message)
                continue
            }
            guard !others.contains(where: { $0.name.hasSameBytes(as: name) }) else {
                dialogue.show("'\(Terminal.printable(name))' is the name of another beacon.")
                continue
            }
            let isPersons = try dialogue.confirm("Does it go where a person goes, as keys do?", arguments.has("person"))
            return NamedBeacon(name: name, beacon: "\(heard.beacon)", isPersons: isPersons)
        }
    }
}
