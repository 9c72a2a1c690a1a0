import Base
import Configuration
import Gateway
import Regions
import Shell
import Storage

extension Decision {
    /// The part of a decision of the core that the links carry out.
    init(
        of effects: [Gateway.Effect], _ configuration: Configuration, _ keys: MessageKeys, at now: MonotonicInstant
    ) {
        self.init()
        for effect in effects {
            switch effect {
            case .publish(let publication):
                if let message = publication.stored(configuration, keys) { changes.append(.message(message)) }
            case .regions(let topic, let regions): changes.append(.regions(tracker: topic, regions.regions))
            case .record(let record): if configuration.keepsHistory { changes.append(.history(record)) }
            case .recordLocation(let record): if configuration.keepsHistory { changes.append(.location(record)) }
            case .monitoring(let topic, let kept):
                changes.append(.value(key: KeptMonitoring.storeKey(of: topic), kept.bytes))
            case .presence(let update): changes.append(update.change(at: now))
            case .checkpoint(let bytes): checkpoint = PresenceRecord(keptPresence: bytes, at: now)
            case .editsTaken(let topic, let last): changes.append(.editsTaken(tracker: topic, upTo: last))
            case .value(let key, let value): changes.append(.value(key: key, value))
            case .forget(let key): changes.append(.value(key: key, nil))
            case .rereadEdits: rereadsEdits = true
            case .checkSettings, .putInForce, .settingsKept, .storePhoneKeys, .phonesInForce, .publishPhoneList, .log:
                break
            }
        }
    }
}

extension Publication {
    /// The message as it is stored; nil if it is not sent in this mode.
    fileprivate func stored(_ configuration: Configuration, _ keys: MessageKeys) -> Publication? {
        guard !configuration.broker.isOffline else { return nil }
        var publication = self
        if configuration.broker.endpoint != nil {
            guard kind.isOwnTracks else { return nil }
            publication.payload = posted
        }
        // A message that waits for its times is encrypted when they are known.
        if stamp != .provisional { publication.payload = keys.encrypted(publication.payload, of: publication) }
        return publication
    }
}
