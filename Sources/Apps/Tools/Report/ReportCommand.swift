import Base
import Configuration
import Gateway
import OwnTracks
import Regions
import Shell
import Storage
import System

/// `report`: publishes a manual location (`t: "u"`), whether the service runs or not.
///
/// The command uses its own connection. So it works without the service, and the user learns whether the broker has the
/// message. The occupied regions come from the store, which a running service updates at every transition.
enum ReportCommand {
    static let specification = CommandSpecification(
        "report", "publish a location now",
        options: [
            OptionSpecification("tag", "TEXT", "tag of this location (default: from the configuration; '' for none)"),
            OptionSpecification("poi", "TEXT", "point of interest of this location"),
            OptionSpecification(
                "tracker", "TID", "whose location, if there are several trackers (default: the first)"),
        ],
        examples: [
            ("ibeacon-gateway report", "the place of this gateway and its occupied regions"),
            ("ibeacon-gateway report --poi 'delicious seafood'", "with a point of interest"),
        ])

    static func run(_ arguments: Arguments) throws -> ExitCode {
        if let word = arguments.operands.first { throw Failure(.usage, "report takes no '\(word)'; --poi '\(word)'?") }
        let settings = try Settings.loadInForce(arguments)
        let index = try settings.tracker(arguments.value("tracker"))
        return try send(from: settings, of: index, arguments)
    }

    private static func send(from settings: Settings, of index: Int, _ arguments: Arguments) throws -> ExitCode {
        var configuration = settings.configuration
        if let tag = arguments.value("tag") { configuration.tag = tag.isEmpty ? nil : tag }
        let poi = arguments.value("poi").flatMap { $0.isEmpty ? nil : $0 }
        var gateway = Gateway(
            configuration: configuration, wallClock: WallClockTrustPolicy.read(), explainsTransitions: false)
        _ = gateway.handle(.start(try stored(in: settings, configuration)), at: .zero)
        let effects = gateway.handle(
            .request(.reportLocation(tracker: index, pointOfInterest: poi)), at: Clocks.now())
        guard case .publish(let message)? = effects.first else {
            throw Failure(.configuration, "no location is published: the place of this gateway is not set (lat, lon)")
        }
        let publisher = try DirectPublisher(configuration, purpose: "report")
        publisher.publish(message)
        try publisher.finish()
        if !arguments.has("quiet") { Terminal.print(jsonLines: MessageLine.bytes(of: message)) }
        return .ok
    }

    /// The regions and their occupancy, as the service stored them last. The history does not say who is inside: it may be
    /// switched off, and forgets an enter after `days`.
    private static func stored(
        in settings: Settings, _ configuration: Configuration
    ) throws(Failure) -> StoredState {
        // A gateway that has never run has the regions of its configuration, and no beacon.
        var stored = StoredState(configuration: configuration, regions: [])
        _ = try StoreReader.read(settings.stateDirectory) { reader in
            let regions = try reader.regions()
            let topics = configuration.trackers.map(\.topics.base)
            stored.regions = topics.map { regions[$0] ?? RegionSet() }
            guard let record = try reader.presence(),
                let kept = KeptPresence(bytes: record.state, changes: record.changes)
            else { return }
            stored.presence = .reported(by: kept, of: topics)
        }
        return stored
    }
}
