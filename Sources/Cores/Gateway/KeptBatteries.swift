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
                    "read": clock.isKnown ? state.instant.map { .integer(clock.epochSeconds(at: $0)) } ?? .null : .null,
                ]
            }
        ).bytes
    }

    /// What `bytes` wrote. Elements that cannot be read are left out.
    static func low(in bytes: [UInt8], clock: WallClock) -> [(beacon: BeaconID, state: BatteryState)] {
        ((try? JSONValue(parsing: bytes))?.array ?? []).compactMap { element in
            guard let uuid = element["uuid"]?.string.flatMap({ BeaconUUID($0) }),
                let major = element["major"]?.asInteger.flatMap({ UInt16(exactly: $0) }),
                let minor = element["minor"]?.asInteger.flatMap({ UInt16(exactly: $0) }),
                let battery = BatteryReading(
                    level: element["level"]?.asInteger.flatMap { UInt8(exactly: $0) },
                    millivolts: element["millivolts"]?.asInteger.flatMap { UInt16(exactly: $0) })
            else { return nil }
            let read = clock.isKnown ? element["read"]?.asInteger : nil
            let instant = read.map { clock.instant(ofEpochSeconds: $0) }
            return (
                BeaconID(uuid: uuid, major: major, minor: minor),
                BatteryState(battery: battery, temperature: nil, instant: instant, isLow: true)
            )
        }
    }

    private static func number(_ value: (some BinaryInteger)?) -> JSONValue {
        value.map { .integer(Int64($0)) } ?? .null
    }
}
