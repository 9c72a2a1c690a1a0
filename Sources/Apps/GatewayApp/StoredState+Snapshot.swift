import Base
import Configuration
import Gateway
import JSON
import OwnTracks
import Regions
import Runtime
import Shell
import Storage

extension StoredState {
    /// What the store has for a configuration.
    ///
    /// - Parameters:
    ///   - configuration: The one in force, with `remoteSettings` over the file.
    ///   - host: The machine on which the service runs now.
    init(
        _ snapshot: StoreSnapshot, for configuration: Configuration, remoteSettings: JSONValue?,
        on host: any ServiceHost, log: Log
    ) {
        let topics = Self.topics(in: snapshot, of: configuration)
        let presence = KeptPresence(in: snapshot, log).map {
            Presence.kept($0, isSameBoot: snapshot.presence?.boot == host.bootID)
        }
        self.init(
            configuration: configuration, regions: topics.map { RegionSet(snapshot.regions[$0] ?? []) }, topics: topics,
            monitoring: topics.map { topic in
                snapshot.values[ExactString(KeptMonitoring.storeKey(of: topic))].flatMap(KeptMonitoring.init(bytes:))
            },
            removed: Self.removedTrackers(in: snapshot, of: configuration, besides: topics),
            presence: presence ?? .unknown, remoteSettings: remoteSettings,
            servedTopics: snapshot.values[Gateway.servedTopicsKey],
            servedDevices: snapshot.values[Gateway.servedDevicesKey],
            servedHardware: snapshot.values[Gateway.servedHardwareKey], hardware: host.hardware.map { Array($0.utf8) },
            removedTopics: snapshot.values[Gateway.removedTopicsKey],
            lowBatteries: snapshot.values[Gateway.lowBatteriesKey],
            appliedCommands: topics.map {
                AppliedCommands(bytes: snapshot.values[ExactString(AppliedCommands.storeKey(of: $0))] ?? [])
            },
            obeyedEnvelopes: ObeyedEnvelopes(bytes: snapshot.values[ExactString(ObeyedEnvelopes.storeKey)] ?? []),
            pendingClears: topics.map {
                Gateway.pendingClear(snapshot.values[ExactString(Gateway.pendingClearKey(of: $0))] ?? [])
            },
            phonesHeard: snapshot.values[ExactString(PhoneTimes.storeKey)],
            about: ["version": .string(Program.version)])
    }

    /// The topic under which the state of each tracker is stored. A tracker whose topic was changed while the service did
    /// not run keeps its state, as at a reload.
    private static func topics(in snapshot: StoreSnapshot, of configuration: Configuration) -> [String] {
        let own = configuration.trackers.map(\.topics.base)
        let served = ServedTopics(bytes: snapshot.values[Gateway.servedTopicsKey] ?? []).topics
        let removed = ServedTopics(bytes: snapshot.values[Gateway.removedTopicsKey] ?? []).topics
        let origins = Trackers.origins(of: own, among: served, returning: Set(removed.map { ExactString($0) }))
        return zip(own, origins).map { topic, origin in
            origin.map { served[$0] } ?? topic
        }
    }

    /// What is stored of trackers that the settings do not contain.
    ///
    /// - Parameter topics: As `topics(in:of:)` returns them.
    private static func removedTrackers(
        in snapshot: StoreSnapshot, of configuration: Configuration, besides topics: [String]
    ) -> [RemovedTracker] {
        var known = Set((topics + configuration.trackers.map(\.topics.base)).map { ExactString($0) })
        // Removed before the last start, and since.
        let former = [Gateway.removedTopicsKey, Gateway.servedTopicsKey].flatMap {
            ServedTopics(bytes: snapshot.values[$0] ?? []).topics
        }
        return former.filter { known.insert(ExactString($0)).inserted }.map { topic in
            RemovedTracker(
                topic: topic, regions: RegionSet(snapshot.regions[topic] ?? []),
                cleared: Gateway.pendingClear(snapshot.values[ExactString(Gateway.pendingClearKey(of: topic))] ?? []),
                monitoring: snapshot.values[ExactString(KeptMonitoring.storeKey(of: topic))]
                    .flatMap(KeptMonitoring.init(bytes:)),
                appliedCommands: AppliedCommands(
                    bytes: snapshot.values[ExactString(AppliedCommands.storeKey(of: topic))] ?? []))
        }
    }
}
