package import Base
import Health
import JSON

extension StatusSnapshot {
    /// The scanner and its radios.
    package struct ScannerState: Hashable, Sendable {
        /// `mgmt`, `hci`, `bluez` or `capture`.
        package var name = ""
        package var adapters: [Adapter] = []
        /// The setting `scanDuty`; nil for "auto" or a recording.
        package var scanDuty: Double?
        /// Why no adapter can be used; nil if one can.
        package var problem: Problem?

        package init(name: String = "", adapters: [Adapter] = [], scanDuty: Double? = nil) {
            self.name = name
            self.adapters = adapters
            self.scanDuty = scanDuty
        }
    }

    /// Why no adapter can be used, and what to do.
    package struct Problem: Hashable, Sendable {
        package let text: String
        package let remedy: String

        package init(text: String, remedy: String) {
            self.text = text
            self.remedy = remedy
        }
    }

    /// One radio.
    package struct Adapter: Hashable, Sendable {
        /// `hci0`, or the name of a recording.
        package var name: String
        package var isListening: Bool
        /// Whether it listened until a moment ago, and probably does again in a moment. That is no problem.
        package var isPausing = false
        /// Why the controller does not scan, although the gateway has asked for it; nil: it does, or there is another reason.
        package var trouble: String?
        /// Advertising reports since the start.
        package var reports: UInt64 = 0
        /// Advertising reports per second, over about the last minute.
        package var reportsPerSecond: Double = 0
        package var malformed: UInt64 = 0
        /// Reports that were lost before the gateway received them, as far as known.
        package var lost: UInt64 = 0
        /// How often scanning had to be started again.
        package var restarts: UInt64 = 0
        /// How often the controller had to be reset, because it hung or was deaf.
        package var resets: UInt64 = 0
        /// Share of the time in which the radio listens (0 … 1), if known.
        package var duty: Double?
        package var lastHeard: MonotonicInstant?
        /// What the controller has no room to be asked for: `identities`, `telemetry`.
        package var unheard: [String] = []

        package init(name: String, isListening: Bool) {
            self.name = name
            self.isListening = isListening
        }
    }
}

extension StatusSnapshot.Adapter {
    func json(at now: MonotonicInstant) -> JSONValue {
        [
            "name": .shown(name), "listening": .bool(isListening), "pausing": .bool(isPausing),
            "trouble": .optional(trouble.map { .string($0) }), "reports": .count(reports),
            "reportsPerSecond": .tenths(reportsPerSecond), "malformed": .count(malformed), "lost": .count(lost),
            "restarts": .count(restarts), "resets": .count(resets), "duty": .optional(duty.map { .hundredths($0) }),
            "heardAgo": .ago(lastHeard, at: now), "unheard": .array(unheard.map { .string($0) }),
        ]
    }
}
