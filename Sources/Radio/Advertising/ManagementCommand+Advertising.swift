import Base
package import KernelScanning

extension ManagementCommand {
    /// The Interval parameters are used.
    private static let hasInterval: UInt32 = 1 << 14

    package static func readAdvertisingFeatures(_ index: UInt16) -> Self { Self(.readAdvertisingFeatures, index) }

    /// The first half of an advertisement at a controller with advertising sets: non-connectable, with this interval and no end.
    package static func addAdvertisingParameters(_ index: UInt16, instance: UInt8, interval: Duration) -> Self {
        // Units of 0.625 ms.
        let units = UInt32(clamping: interval.nanoseconds / 625_000)
        let parameters =
            [instance] + octets(hasInterval) + octets(0 as UInt16) + octets(0 as UInt16) + octets(units)
            + octets(units) + [0]
        return Self(.addExtendedAdvertisingParameters, index, parameters)
    }

    /// The second half, after whose answer it is on the air.
    package static func addAdvertisingData(_ index: UInt16, instance: UInt8, _ data: [UInt8]) -> Self {
        Self(.addExtendedAdvertisingData, index, [instance, UInt8(clamping: data.count), 0] + data)
    }

    /// An advertisement that nobody can connect to, and that the kernel ends by itself.
    ///
    /// - Parameter seconds: How long it is on the air, without the turns of others.
    package static func addAdvertising(_ index: UInt16, instance: UInt8, _ data: [UInt8], seconds: UInt16) -> Self {
        // Flags, the time of one turn (0: the kernel's 2 s), then the time of all.
        let parameters = [instance] + octets(0 as UInt32) + octets(0 as UInt16) + octets(seconds)
        return Self(.addAdvertising, index, parameters + [UInt8(clamping: data.count), 0] + data)
    }

    package static func removeAdvertising(_ index: UInt16, instance: UInt8) -> Self {
        Self(.removeAdvertising, index, [instance])
    }

    private static func octets(_ number: some FixedWidthInteger) -> [UInt8] {
        (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
