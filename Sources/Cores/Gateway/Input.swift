package import Base
package import Beacon
package import Configuration
package import OwnTracks
package import Regions

extension Gateway {
    /// Everything that can happen to the gateway. The service's links create inputs, and `Gateway.handle` handles them.
    package enum Input: Sendable {
        /// The store is open. The first input of a service; a replay may begin without stored state.
        indirect case start(StoredState)
        /// A receiver heard an iBeacon.
        case sighting(Sighting)
        /// A beacon told the state of its battery.
        case telemetry(BeaconTelemetry)
        /// The UUIDs under which phones and watches are heard, where nobody passes their keys (`phoneKeys`): in a replay.
        case phones(Set<BeaconUUID>)
        /// A receiver began or ceased to listen.
        case listening(Receiver, Bool)
        /// While the receiver listens, its radio is on for this share of the time, 0 … 1.
        case scanDuty(Receiver, Double)
        /// The machine was suspended for this long, up to now, and no receiver listened. This is the first input after the
        /// suspend.
        case absent(Duration)
        /// Time passed, and all waiting reports of the radio were handled. Silence counts only at a tick, so a beacon
        /// leaves by silence only at a tick.
        case tick
        /// Presence may be stored now, although no region was entered or left.
        case checkpoint
        /// The service is about to end.
        case stopping
        /// The wall clock was set or changed.
        case wallClock(WallClock)
        /// A message arrived on a tracker's `/cmd`.
        case command(ReceivedCommand)
        /// The command line edited regions. Edits that were handled before may be repeated.
        case regionEdits([RegionEdit])
        /// The status page or Home Assistant asks for this.
        case request(Request)
        /// What the service found out about settings, or did with them.
        case settings(SettingsOutcome)
        /// What happened to the keys of phones.
        indirect case phoneKeys(PhoneKeyEvent)
        /// The configuration was read again, with its regions (`modes` is nil), or is put in force (`Effect.putInForce`). `modes`: the
        /// monitoring modes, by base topic, that trackers get back with it after a trial.
        indirect case configuration(Configuration, modes: [ExactString: MonitoringMode]? = nil)
        /// The store gave up a write. The presence in it is lost.
        case writeLost
        /// The store uses another file, which may lack anything.
        case stateLost
        /// The broker accepted the connection. `isNew`: it remembers no session, and perhaps no retained message.
        case brokerConnected(isNew: Bool)
        /// Home Assistant announced its start. It knows no state.
        case homeAssistantStarted
        /// A request on this topic was refused, because too many came.
        case requestRefused(topic: String)
    }
}
