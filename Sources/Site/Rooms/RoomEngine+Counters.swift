extension RoomEngine {
    package struct Counters: Hashable, Sendable {
        package var messages: UInt64 = 0
        package var readings: UInt64 = 0
        /// Messages that came more than 5 s late.
        package var late: UInt64 = 0
        package var repeated: UInt64 = 0
        /// Messages of gateways that do not count yet.
        package var unknown: UInt64 = 0
        /// Readings of beacons that are not tags.
        package var foreign: UInt64 = 0
        package var windows: UInt64 = 0
        package var decisions: UInt64 = 0
        /// Messages, cards and training requests for which there is no place, and requests that name no tag.
        package var refused: UInt64 = 0
    }
}
