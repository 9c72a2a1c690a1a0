package import Base
import Configuration
package import Gateway
import JSON
import OwnTracks
import Presence
package import Regions
import Runtime
package import Shell
package import Storage

/// What only the gateway does at the events of the links that every service has.
extension Service: AppOwner {
    package typealias Core = Gateway

    // MARK: - Decisions

    package func decision(of effects: [Gateway.Effect], at now: MonotonicInstant) -> Decision {
        Decision(of: effects, configuration, keys, at: now)
    }

    package func finish(_ effects: [Gateway.Effect]) {
        if status.record(effects) { app.changed() }
        for effect in effects {
            if case .regions = effect { radio.regionsChanged() }
            if let entry = effect.logEntry { log.write(entry) }
        }
        // Last, because the inputs that follow make decisions of their own.
        for effect in effects {
            switch effect {
            case .storePhoneKeys(let change): phones.store(change)
            case .phonesInForce(let areOthers): phones.putInForce(areOthers: areOthers)
            case .publishPhoneList(let keys): phones.publish(keys)
            case .checkSettings(let changes, let waypoints, let topic): check(changes, waypoints, topic: topic)
            case .putInForce(let configuration, let modes): putInForce(configuration, modes: modes)
            case .settingsKept: awaitsKeeping = true
            case .publish, .regions, .record, .recordLocation, .monitoring, .presence, .checkpoint, .editsTaken, .value,
                .forget, .rereadEdits, .log:
                break
            }
        }
    }

    // MARK: - The store

    package func restore(_ snapshot: StoreSnapshot, at now: MonotonicInstant) {
        let kept = snapshot.values[Gateway.remoteSettingsKey]
        let remote = app.settings.restore(kept.flatMap { try? JSONValue(parsing: $0) }, log)
        keys.update(configuration)
        let stored = StoredState(snapshot, for: configuration, remoteSettings: remote, on: host, log: log)
        home.restoreFormerDevices(snapshot, stored)
        proxies.restore(snapshot)
        app.handle(.start(stored), at: now)
        if kept != remote?.bytes { app.handle(.settings(.remaining(remote)), at: now) }
    }

    package func begin(with snapshot: StoreSnapshot, at now: MonotonicInstant) -> String {
        status.restoreTransitions()
        radio.prepare()
        radio.start()
        survey.restore(snapshot)
        phones.start()
        proxies.refresh()
        let regions = app.core.trackers.reduce(0) { $0 + $1.regions.regions.count }
        let text = "\(counted(regions, "region")), \(counted(snapshot.outboxCount, "message")) waiting"
        log.notice("ibeacon-gateway \(Program.version) is running: \(text)")
        status.ready()
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

    package func clockIsKnown() { status.restoreTransitions() }

    package func changed() { home.changed() }

    package func stop() {
        proxies.stop()
        radio.stop()
        status.stop()
        home.stop()
        feed.stop()
        phones.stop()
        side.close(waits: true)
    }
}
