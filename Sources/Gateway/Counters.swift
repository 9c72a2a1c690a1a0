/// Totals since the start. A counter of the core is added here and increased where the core decides; `status`,
/// `/status.json` and `/metrics` show it.
package struct Counters: Hashable, Sendable {
    /// iBeacon frames heard.
    package var sightings: UInt64 = 0
    package var enters: UInt64 = 0
    package var leaves: UInt64 = 0
    /// Commands that were carried out.
    package var commands: UInt64 = 0
    /// Commands that were refused: not understood, not allowed, retained, or unencrypted although a key is set.
    package var commandsRefused: UInt64 = 0
    /// Elements of region lists that could not be used.
    package var waypointsRefused: UInt64 = 0

    package init() {}
}
