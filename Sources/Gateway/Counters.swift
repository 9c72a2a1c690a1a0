/// What the gateway has done since it started.
package struct Counters: Hashable, Sendable {
    /// iBeacon frames heard.
    package var sightings: UInt64 = 0
    package var enters: UInt64 = 0
    package var leaves: UInt64 = 0
    /// Commands that were carried out.
    package var commands: UInt64 = 0
    /// Commands that were not: not understood, not allowed, retained, or in the clear where a key is set.
    package var commandsRefused: UInt64 = 0
    /// Elements of region lists that could not be used.
    package var waypointsRefused: UInt64 = 0

    package init() {}
}
