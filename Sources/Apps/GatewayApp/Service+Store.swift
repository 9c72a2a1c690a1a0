import Base
import Configuration
import Encryption
import Gateway
import JSON
import OwnTracks
import Presence
import Regions
import Runtime
import Shell
import Storage

extension Service {
    /// Carries out one decision of the core. Everything that it stores is one transaction, and each message goes to the
    /// broker only after it is on the disk.
    func perform(_ effects: [Effect]) {
        guard !effects.isEmpty else { return }
        let now = host.now
        var changes: [StoreChange] = []
        var requests: [SettingsRequest] = []
        var rereadsEdits = false
        for effect in effects {
            switch effect {
            case .publish(let publication): changes += change(for: publication)
            case .regions(let topic, let regions): changes.append(.regions(tracker: topic, regions.regions))
            case .record(let record):
                if settings.configuration.keepsHistory { changes.append(.history(entry(for: record))) }
            case .recordLocation(let record):
                if settings.configuration.keepsHistory { changes.append(.location(entry(for: record))) }
            case .monitoring(let topic, let mode):
                changes.append(.value(key: "monitoring \(topic)", Array("\(mode.rawValue)".utf8)))
            case .presence(let update): changes.append(update.change(at: now))
            case .checkpoint(let bytes):
                links.store.submit(.checkpoint(PresenceRecord(keptPresence: bytes, at: now)))
            case .editsTaken(let topic, let last): changes.append(.editsTaken(tracker: topic, upTo: last))
            case .value(let key, let value): changes.append(.value(key: key, value))
            case .rereadEdits: rereadsEdits = true
            case .reconfigure(let changes, let waypoints, let tracker):
                requests.append(SettingsRequest(changes: changes, waypoints: waypoints, tracker: tracker))
            case .log: break
            }
        }
        if !changes.isEmpty { links.store.submit(.commit(changes)) }
        if rereadsEdits { links.store.submit(.rereadEdits) }
        // This runs while the store writes, so that the message does not wait for the page and the journal.
        if monitor.record(effects, trackers: gateway.trackers) { statusChanged() }
        for effect in effects {
            if let entry = effect.logEntry { write(entry) }
        }
        // Last, because the inputs that follow make decisions of their own.
        for request in requests { reconfigure(request) }
    }

    func handleStoreEvents() {
        for event in links.store.drainEvents() {
            monitor.record(event)
            if let code = event.write(to: log) { host.exit(code) }
            switch event {
            case .opened(let snapshot): begin(with: snapshot)
            case .kept(let keys):
                // A power cut could still take them before.
                guard keys.contains(Gateway.remoteSettingsKey) else { continue }
                log.notice("setConfiguration: the new settings are kept")
            case .deliver(let rows): deliver(rows)
            case .regionEdits(let edits): handle(.regionEdits(edits), at: host.now)
            case .failed(_, willRetry: false): handle(.writeLost, at: host.now)
            case .stateLost: handle(.stateLost, at: host.now)
            case .notice, .unavailable, .troubled, .recovered, .failed, .stopped: break
            }
        }
    }

    /// The store is open: the core restores the stored state, and the other links are opened.
    private func begin(with snapshot: StoreSnapshot) {
        let now = host.now
        let remote = restoreRemoteSettings(snapshot.values[Gateway.remoteSettingsKey])
        let topics = settings.configuration.trackers.map(\.topics.base)
        let presence = storedPresence(in: snapshot).map {
            StoredState.Presence.kept($0, isSameBoot: snapshot.presence?.boot == host.bootID)
        }
        let stored = StoredState(
            configuration: settings.configuration, regions: topics.map { RegionSet(snapshot.regions[$0] ?? []) },
            monitoring: topics.map { MonitoringMode(stored: snapshot.values["monitoring \($0)"]) },
            presence: presence ?? .unknown, remoteSettings: remote,
            servedTopics: snapshot.values[Gateway.servedTopicsKey],
            lowBatteries: snapshot.values[Gateway.lowBatteriesKey],
            appliedCommands: topics.map {
                AppliedCommands(bytes: snapshot.values[ExactString(AppliedCommands.storeKey(of: $0))] ?? [])
            },
            about: ["version": .string(Program.version), "started": .integer(host.wallClock.epochSeconds(at: now))])
        handle(.start(stored), at: now)
        handle(.regionEdits(snapshot.edits), at: now)
        readClock()
        restoreTransitions()
        beginCheckpoints()
        connectBroker()
        links.radio.setDuty(settings.configuration.duty)
        links.radio.setBatteryMasks(settings.configuration.batteryMasks)
        links.radio.start(self)
        armDeadline()
        let regions = gateway.trackers.reduce(0) { $0 + $1.regions.regions.count }
        let text = "\(regions) regions, \(snapshot.outboxCount) messages waiting"
        log.notice("ibeacon-gateway \(Program.version) is running: \(text)")
        monitor.startTime = ProcessUsage.age()
        host.report(.ready(status: text))
    }

    private func change(for publication: Publication) -> [StoreChange] {
        guard !settings.configuration.broker.isOffline else { return [] }
        var publication = publication
        if settings.configuration.broker.endpoint != nil {
            guard publication.kind.isOwnTracks else { return [] }
            publication.payload = publication.posted
        }
        // A message that waits for its times is encrypted when they are known.
        if publication.stamp != .provisional {
            publication.payload = keys.encrypted(publication.payload, of: publication)
        }
        return [.message(publication)]
    }

    private func entry(for record: TransitionRecord) -> HistoryEntry {
        HistoryEntry(
            tracker: record.topic, rid: record.key.rid, name: record.name, event: record.isEnter ? .enter : .leave,
            beacon: record.beacon, timestamp: record.timestamp, stamp: record.isTimeKnown ? .exact : .provisional,
            happened: record.instant)
    }

    private func entry(for record: LocationRecord) -> LocationEntry {
        LocationEntry(
            tracker: record.topic, latitude: record.position.coordinates.latitude,
            longitude: record.position.coordinates.longitude, accuracy: Int64(record.position.accuracy),
            trigger: record.trigger.rawValue, timestamp: record.timestamp,
            stamp: record.isTimeKnown ? .exact : .provisional, happened: record.instant)
    }

    private func write(_ entry: LogEntry) {
        let fields = entry.fields.merging(["IBEACON_KIND": entry.kind]) { own, _ in own }
        if entry.priority <= .warning {
            log.once(entry.kind, entry.priority, entry.text, fields: fields)
        } else {
            log.write(entry.priority, entry.text, fields: fields)
        }
    }
}

extension MonitoringMode {
    /// The stored representation: the number as text.
    fileprivate init?(stored: [UInt8]?) {
        guard let stored, let number = Int(String(decoding: stored, as: UTF8.self)) else { return nil }
        self.init(rawValue: number)
    }
}
