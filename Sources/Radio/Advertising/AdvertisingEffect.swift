package import KernelScanning

/// What `BeaconAdvertisement` decides.
package enum AdvertisingEffect: Hashable, Sendable, CustomStringConvertible {
    case send(ManagementCommand)
    /// Pause the scan of an adapter, or let it go on.
    case pauseScan(UInt16, Bool)

    /// In words, for tests.
    package var description: String {
        switch self {
        case .send(let command): "\(command.opcode) \(command.index)"
        case .pauseScan(let index, let isPaused): "\(isPaused ? "pause" : "go on") \(index)"
        }
    }
}
