package import Base
import Configuration
package import Gateway
import Identities
import JSON
import OwnTracks
import Presence
package import Regions
import Runtime
package import Shell
package import Storage
import System

/// What only the gateway does at the events of the links that every service has.
extension Service: AppOwner {
    package typealias Core = Gateway

    // MARK: - Decisions

    package func decision(of effects: [Gateway.Effect], at now: MonotonicInstant) -> Decision {
        var decision = Decision()
        for effect in effects {
            switch effect {
            case .publish(let publication):
                if let message = stored(publication) { decision.changes.append(.message(message)) }
            case .regions(let topic, let regions): decision.changes.append(.regions(tracker: topic, regions.regions))
            case .record(let record):
                if configuration.keepsHistory { decision.changes.append(.history(record)) }
            case .recordLocation(let record):
                if configuration.keepsHistory { decision.changes.append(.location(record)) }
            case .monitoring(let topic, let kept):
                decision.changes.append(.value(key: KeptMonitoring.storeKey(of: topic), kept.bytes))
            case .presence(let update): decision.changes.append(update.change(at: now))
            case .checkpoint(let bytes): decision.checkpoint = PresenceRecord(keptPresence: bytes, at: now)
            case .editsTaken(let topic, let last):
                decision.changes.append(.editsTaken(tracker: topic, upTo: last))
            case .value(let key, let value): decision.changes.append(.value(key: key, value))
            case .forget(let key): decision.changes.append(.value(key: key, nil))
            case .rereadEdits: decision.rereadsEdits = true
            case .reconfigure, .phoneKeys, .log: break
            }
        }
        return decision
    }

    package func finish(_ effects: [Gateway.Effect]) {
        if monitor.record(effects, trackers: app.core.trackers) { app.changed() }
        for effect in effects {
            if case .regions = effect {
                links.radio.setIdentities(app.core.identities)
                namePhones()
            }
            if let entry = effect.logEntry { write(entry) }
        }
        // Last, because the inputs that follow make decisions of their own.
        for case .phoneKeys(let keys) in effects { take(keys) }
        for case .reconfigure(let changes, let waypoints, let topic) in effects {
            reconfigure(SettingsRequest(changes: changes, waypoints: waypoints, topic: topic))
        }
    }

    /// The message as it is stored; nil if it is not sent in this mode.
    private func stored(_ publication: Publication) -> Publication? {
        guard !configuration.broker.isOffline else { return nil }
        var publication = publication
        if configuration.broker.endpoint != nil {
            guard publication.kind.isOwnTracks else { return nil }
            publication.payload = publication.posted
        }
        // A message that waits for its times is encrypted when they are known.
        if publication.stamp != .provisional {
            publication.payload = keys.encrypted(publication.payload, of: publication)
        }
        return publication
    }

    private func write(_ entry: LogEntry) {
        let fields = entry.fields.merging(["IBEACON_KIND": entry.kind]) { own, _ in own }
        if entry.priority <= .warning {
            log.each("\(entry.kind) \(entry.scope)", entry.priority, entry.text, fields: fields, of: entry.budget)
        } else {
            log.write(entry.priority, entry.text, fields: fields, of: entry.budget)
        }
    }

    // MARK: - The store

    package func restore(_ snapshot: StoreSnapshot, at now: MonotonicInstant) {
        let kept = snapshot.values[Gateway.remoteSettingsKey]
        let remote = app.settings.restore(kept.flatMap { try? JSONValue(parsing: $0) }, log)
        keys.update(configuration)
        let topics = topics(in: snapshot)
        let presence = storedPresence(in: snapshot).map {
            StoredState.Presence.kept($0, isSameBoot: snapshot.presence?.boot == host.bootID)
        }
        let stored = StoredState(
            configuration: configuration, regions: topics.map { RegionSet(snapshot.regions[$0] ?? []) }, topics: topics,
            monitoring: topics.map { topic in
                snapshot.values[ExactString(KeptMonitoring.storeKey(of: topic))].flatMap(KeptMonitoring.init(bytes:))
            },
            removed: removedTrackers(in: snapshot, besides: topics), presence: presence ?? .unknown,
            remoteSettings: remote,
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
            about: ["version": .string(Program.version)])
        restorePhones(snapshot.values[ExactString(Self.heardPhonesKey)])
        restoreFormerDevices(snapshot, stored)
        app.handle(.start(stored), at: now)
        if kept != remote?.bytes { app.handle(.settings(.remaining(remote)), at: now) }
    }

    /// The topic under which the state of each tracker is stored. A tracker whose topic was changed while the service did
    /// not run keeps its state, as at a reload.
    private func topics(in snapshot: StoreSnapshot) -> [String] {
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
    /// - Parameter topics: As `topics(in:)` returns them.
    private func removedTrackers(in snapshot: StoreSnapshot, besides topics: [String]) -> [RemovedTracker] {
        var known = Set((topics + configuration.trackers.map(\.topics.base)).map { ExactString($0) })
        // Removed before the last start, and since.
        let former = [Gateway.removedTopicsKey, Gateway.servedTopicsKey].flatMap {
            ServedTopics(bytes: snapshot.values[$0] ?? []).topics
        }
        return former.filter { known.insert(ExactString($0)).inserted }.map { topic in
            RemovedTracker(
                topic: topic, regions: RegionSet(snapshot.regions[topic] ?? []),
                monitoring: snapshot.values[ExactString(KeptMonitoring.storeKey(of: topic))]
                    .flatMap(KeptMonitoring.init(bytes:)),
                appliedCommands: AppliedCommands(
                    bytes: snapshot.values[ExactString(AppliedCommands.storeKey(of: topic))] ?? []))
        }
    }

    package func begin(with snapshot: StoreSnapshot, at now: MonotonicInstant) -> String {
        restoreTransitions()
        links.radio.setDuty(configuration.duty)
        links.radio.setBatteryMasks(configuration.batteryMasks)
        links.radio.setIdentities(app.core.identities)
        links.radio.start(self)
        startPhones()
        let regions = app.core.trackers.reduce(0) { $0 + $1.regions.regions.count }
        let text = "\(regions) regions, \(snapshot.outboxCount) messages waiting"
        log.notice("ibeacon-gateway \(Program.version) is running: \(text)")
        monitor.startTime = ProcessUsage.age()
        return text
    }

    package func merge(_ edits: [RegionEdit], at now: MonotonicInstant) {
        app.handle(.regionEdits(edits), at: now)
    }

    package func kept(_ keys: Set<String>) {
        // A power cut could still take them before.
        guard awaitsKeeping, keys.contains(Gateway.remoteSettingsKey) else { return }
        awaitsKeeping = false
        log.notice("setConfiguration: the new settings are kept")
    }

    // MARK: - The rest

    package func historyBegin(at epochSeconds: Int64) -> Int64? { configuration.historyBegin(at: epochSeconds) }

    package func clockIsKnown() { restoreTransitions() }

    package func changed() { homeChanged() }

    package func stop() {
        links.radio.stop()
        sampleTimer = nil
        home = nil
        readingFeed = nil
        storeHeardPhones()
        phones.timer = nil
        if !links.phoneKeys.finish(within: .seconds(4)) {
            log.error("the disk is too slow; keys of phones that were not stored yet may be lost")
        }
        closeAvailability(waits: true)
    }
}

extension LogEntry {
    /// What the line counts against, so that others cannot use up the lines of transitions and refusals.
    fileprivate var budget: LogLimiter.Budget {
        kind == "transition" ? .transitions : kind.hasSuffix("-refused") ? .refusals : .general
    }
}
