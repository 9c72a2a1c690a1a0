import Base
import Beacon
import Identities
import JSON

/// When each phone was heard last, also before this start: the store has these times.
package struct PhoneTimes: Sendable {
    /// The key of the store under which it has the times.
    package static let storeKey = "phones heard"
    /// How often the times are stored.
    private static let period: Duration = .seconds(3600)

    /// As they were stored: epoch seconds by UUID.
    private var heard: [String: Int64] = [:]
    private var stored: MonotonicInstant

    /// - Parameter bytes: What `update` returned; nil: the store has none.
    init(_ bytes: [UInt8]? = nil, at now: MonotonicInstant) {
        let json = bytes.flatMap { try? JSONValue(parsing: $0) }
        heard = (json?.object ?? [:]).compactMapValues(\.asInteger)
        stored = now
    }

    /// Whether it is time to store them again.
    func areDue(at now: MonotonicInstant) -> Bool { stored.duration(to: now) >= Self.period }

    /// Takes what the radio has heard. Times of phones that are no longer known are forgotten.
    ///
    /// - Returns: What is to be stored; nil: nothing has changed, or the wall clock is not known.
    mutating func update(
        _ hearings: [PhoneHearing], of phones: [PhoneKeys.Phone], clock: WallClock, at now: MonotonicInstant
    ) -> [UInt8]? {
        stored = now
        guard clock.isKnown, !phones.isEmpty else { return nil }
        var heard = heard
        for hearing in hearings {
            guard let last = hearing.lastHeard else { continue }
            heard["\(hearing.phone.uuid)"] = clock.epochSeconds(at: last)
        }
        let names = Set(phones.flatMap { ["\($0.key.uuid)", "\($0.key.otherUUID)"] })
        heard = heard.filter { names.contains($0.key) }
        guard heard != self.heard else { return nil }
        self.heard = heard
        return JSONValue.object(heard.mapValues { .integer($0) }).bytes
    }

    /// When a phone was heard last, as far as it was stored.
    func lastHeard(_ key: PhoneKey, clock: WallClock, at now: MonotonicInstant) -> MonotonicInstant? {
        guard clock.isKnown else { return nil }
        return [key.uuid, key.otherUUID].compactMap { heard["\($0)"] }.max().map { seconds in
            now.advanced(by: .seconds(min(0, seconds - clock.epochSeconds(at: now))))
        }
    }
}
