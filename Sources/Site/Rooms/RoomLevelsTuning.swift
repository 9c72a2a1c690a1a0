/// The constants of `RoomLevels`.
package struct RoomLevelsTuning: Hashable, Sendable {
    /// The prior of each gateway's level in each room: its weight in seconds, its mean in dBm and its standard deviation in dB.
    package var ownPriorSeconds: Float = 5
    package var ownPriorLevel: Float = -85
    package var ownPriorDeviation: Float = 8
    /// Least standard deviation, dB: where few places of a room were visited, it seems smaller.
    package var leastDeviation: Float = 4
    /// One gateway's part of the squared distance is at most this many variances: a body hides a tag for seconds.
    package var ownDistanceCap: Float = 9
    /// Above this number of seconds in a room, earlier ones count half: a house changes. Ten hours.
    package var mostOwnSeconds: Float = 36_000

    package init() {}
}
