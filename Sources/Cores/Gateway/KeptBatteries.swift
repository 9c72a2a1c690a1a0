import Base
import Beacon
import JSON

/// The low batteries as they are stored: a tag that left because its battery is empty sends no reading after a restart.
enum KeptBatteries {
    /// The bytes for the store. Times are seconds since 1970, as far as the clock is known.
    static func bytes(_ low: [(beacon: BeaconID, state: BatteryState)], clock: WallClock) -> [UInt8] {
        JSONValue.array(
            low.map { beacon, state in
                [
                    "uuid": .string("\(beacon.uuid)"), "major": .integer(Int64(beacon.major)),
                    "minor": .integer(Int64(beacon.minor)), "level": number(state.battery.level),
                    "millivolts": number(state.battery.millivolts),
                    "read": number(timestamp(of: state, by: clock)),
                ]
            }
        ).bytes
    }

    /// What `bytes` wrote, with the times as seconds since 1970. Elements that cannot be read are left out.
    static func low(in bytes: [UInt8]) -> [(beacon: BeaconID, state: BatteryState)] {
        ((try? JSONValue(parsing: bytes))?.array ?? []).compactMap { element in
            guard let uuid = element["uuid"]?.string.flatMap({ BeaconUUID($0) }),
                let major = element["major"]?.asInteger.flatMap({ UInt16(exactly: $0) }),
                let minor = element["minor"]?.asInteger.flatMap({ UInt16(exactly: $0) }),
                let battery = BatteryReading(
                    level: element["level"]?.asInteger.flatMap { UInt8(exactly: $0) },
                    millivolts: element["millivolts"]?.asInteger.flatMap { UInt16(exactly: $0) })
            else { return nil }
            var state = BatteryState(battery: battery, temperature: nil, instant: nil, isLow: true)
            state.keptTimestamp = element["read"]?.asInteger
            return (BeaconID(uuid: uuid, major: major, minor: minor), state)
        }
    }

    /// Seconds since 1970; nil: not known.
    private static func timestamp(of state: BatteryState, by clock: WallClock) -> Int64? {
        state.keptTimestamp ?? (clock.isKnown ? state.instant.map { clock.epochSeconds(at: $0) } : nil)
    }

    private static func number(_ value: (some BinaryInteger)?) -> JSONValue {
        value.map { .integer(Int64($0)) } ?? .null
    }
}
