import Base

/// Commands that advertise (BlueZ, doc/mgmt-api.txt).
extension ManagementCommand {
    package struct AdvertisingFlags: OptionSet, Sendable {
        package let rawValue: UInt32

        package static let connectable = Self(rawValue: 1 << 0)
        package static let discoverable = Self(rawValue: 1 << 1)
        /// The intervals of Add Extended Advertising Parameters are used.
        fileprivate static let hasInterval = Self(rawValue: 1 << 14)

        package init(rawValue: UInt32) { self.rawValue = rawValue }
    }

    package static func readAdvertisingFeatures(_ index: UInt16) -> Self { Self(.readAdvertisingFeatures, index) }

    /// The first half of an advertisement at a controller with advertising sets: non-connectable, with this interval and no end.
    package static func addAdvertisingParameters(_ index: UInt16, instance: UInt8, interval: Duration) -> Self {
        // Units of 0.625 ms.
        let units = UInt32(clamping: interval.nanoseconds / 625_000)
        var parameters = head(instance, .hasInterval, seconds: 0)
        // The least interval, the largest one, and the power: 0 dBm.
        parameters.append(littleEndian: units)
        parameters.append(littleEndian: units)
        parameters.append(0)
        return Self(.addExtendedAdvertisingParameters, index, parameters)
    }

    /// The second half, after whose answer it is on the air.
    package static func addAdvertisingData(_ index: UInt16, instance: UInt8, _ data: [UInt8]) -> Self {
        Self(.addExtendedAdvertisingData, index, [instance, UInt8(clamping: data.count), 0] + data)
    }

    /// An advertisement that the kernel ends by itself.
    ///
    /// - Parameters:
    ///   - seconds: How long it is on the air, without the turns of others.
    ///   - flags: Without any of them nobody can connect to it.
    package static func addAdvertising(
        _ index: UInt16, instance: UInt8, _ data: [UInt8], seconds: UInt16, flags: AdvertisingFlags = []
    ) -> Self {
        let parameters = head(instance, flags, seconds: seconds)
        return Self(.addAdvertising, index, parameters + [UInt8(clamping: data.count), 0] + data)
    }

    package static func removeAdvertising(_ index: UInt16, instance: UInt8) -> Self {
        Self(.removeAdvertising, index, [instance])
    }

    /// What both ways of advertising begin with.
    ///
    /// - Parameter seconds: 0: no end.
    private static func head(_ instance: UInt8, _ flags: AdvertisingFlags, seconds: UInt16) -> [UInt8] {
        var octets = [instance]
        octets.append(littleEndian: flags.rawValue)
        // The time of one turn: the kernel's 2 s.
        octets.append(littleEndian: 0 as UInt16)
        octets.append(littleEndian: seconds)
        return octets
    }
}
