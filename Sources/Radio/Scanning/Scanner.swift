package import Beacon

/// A source of advertising reports: an interface to Bluetooth, or a capture.
///
/// A scanner runs on the loop's thread and never blocks it. It must report correctly when it listens: presence takes an
/// unreported pause for silence.
package protocol Scanner: AnyObject {
    /// Begins to scan. A temporary problem (no adapter yet, bluetoothd restarting) is no error: the scanner reports it to the
    /// output and recovers by itself.
    ///
    /// - Throws: `ScannerError` if this interface cannot work under the present conditions.
    func start() throws(ScannerError)

    /// Stops scanning and leaves the adapters as they were found.
    func stop()

    /// One entry for each adapter met so far.
    var adapters: [AdapterStatus] { get }

    /// Why no adapter can be used, and what to do; nil if one can, or if it is not known yet.
    var problem: ScanProblem? { get }

    /// Sets the share of the time in which the radio listens, before the start or while the scanner runs. When an adapter has
    /// applied it, `AdapterStatus.duty` and a call of `ScannerOutput.listening` report it.
    func setDuty(_ duty: ScanDuty)

    /// Sets the packets that are wanted beside those of iBeacons and telemetry, before the start or while the scanner runs.
    func setPatterns(_ patterns: [BeaconPacketPattern])

    /// Sets whether every packet is wanted, before the start or while the scanner runs. What presence hears stays the same.
    func setWantsAll(_ wantsAll: Bool)

    /// Sets whether windows of active scan are offered, before the start or while the scanner runs. `AdapterStatus.activeScan` says
    /// whether an adapter can have one.
    func setOffersActiveScan(_ offers: Bool)

    /// Begins a window of active scan, or ends it. It ends by itself after at most 35 s. It is not begun where another program would
    /// be disturbed. What presence hears stays the same.
    func scanActively(_ isWanted: Bool, by receiver: Receiver)

    /// Pauses the scan for some hundredths of a second, because the controller takes a command only while it does not scan, or lets it go
    /// on. `listening` and `pausing` tell of the pause as of any other. A pause that nobody ends is ended after a second.
    func pauseScan(_ isPaused: Bool, by receiver: Receiver)
}

extension Scanner {
    /// A scanner without adapters has none that is missing.
    package var problem: ScanProblem? { nil }
    /// A scanner that delivers all packets, or only those of iBeacons and telemetry, ignores it.
    package func setPatterns(_ patterns: [BeaconPacketPattern]) {}
    /// A scanner that delivers all packets anyway, or cannot choose, ignores it.
    package func setWantsAll(_ wantsAll: Bool) {}
    /// A scanner that has no windows ignores it, and `AdapterStatus.activeScan` stays `unavailable`.
    package func setOffersActiveScan(_ offers: Bool) {}
    package func scanActively(_ isWanted: Bool, by receiver: Receiver) {}
    /// A scanner that cannot pause ignores it.
    package func pauseScan(_ isPaused: Bool, by receiver: Receiver) {}
    /// A scanner that does not control the radio ignores it, and `AdapterStatus.duty` stays nil.
    package func setDuty(_ duty: ScanDuty) {}
}
