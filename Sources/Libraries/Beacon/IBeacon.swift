/// An iBeacon frame: manufacturer specific data of Apple (0x004C), type 0x02, length 0x15, then UUID,
/// major and minor (big endian) and the measured power.
public struct IBeacon: Hashable, Sendable, BitwiseCopyable {
    /// UUID, major and minor.
    public let id: BeaconID
    /// The signal strength at one metre, by the manufacturer.
    public let measuredPower: MeasuredPower

    /// A frame with these values.
    public init(id: BeaconID, measuredPower: MeasuredPower) {
        self.id = id
        self.measuredPower = measuredPower
    }

    /// Company, type and length at the start of the manufacturer specific data.
    package static let prefix: InlineArray<4, UInt8> = [0x4c, 0x00, 0x02, 0x15]
    /// Bytes of manufacturer specific data in a whole frame: prefix, UUID, major, minor, power. Some tags send one more, their
    /// battery.
    package static let contentLength = 25

    /// Finds the iBeacon frame in one advertising packet, with or without a Flags structure before it.
    ///
    /// A frame is valid only if it is whole and exact, with at most one byte more. Malformed structures before it are counted.
    public init?(advertisingData data: Span<UInt8>, malformed: inout MalformedCounters) {
        var hasTelemetry = false
        self.init(advertisingData: data, malformed: &malformed, hasTelemetry: &hasTelemetry)
    }

    /// - Parameter hasTelemetry: Becomes true if the packet may have service data of a telemetry format, so that only such packets are
    ///   searched for it.
    @inline(__always)
    init?(advertisingData data: Span<UInt8>, malformed: inout MalformedCounters, hasTelemetry: inout Bool) {
        var found: IBeacon?
        var inexact = false
        let whole = AdvertisingData.forEachStructure(in: data) { type, content in
            guard type == AdvertisingData.manufacturerSpecificData, Self.hasPrefix(content) else {
                if type == AdvertisingData.serviceData16, Telemetry.mayBeFormat(content) { hasTelemetry = true }
                return true
            }
            found = IBeacon(manufacturerSpecificData: content)
            if found == nil { inexact = true }
            return found == nil
        }
        if inexact { malformed.count(.inexactBeacon) }
        if !whole { malformed.count(.truncatedStructure) }
        guard let found else { return nil }
        self = found
    }

    /// Reads manufacturer specific data, company identifier included, which bluetoothd delivers without the packet.
    ///
    /// - Returns: nil unless the data is exactly an iBeacon frame, or one with a byte more.
    public init?(manufacturerSpecificData content: Span<UInt8>) {
        // One comparison for both lengths.
        guard UInt(bitPattern: content.count &- Self.contentLength) <= 1, Self.hasPrefix(content) else { return nil }
        self.init(
            id: BeaconID(
                uuid: BeaconUUID(
                    high: content.bigEndian(UInt64.self, at: 4), low: content.bigEndian(UInt64.self, at: 12)),
                major: content.bigEndian(UInt16.self, at: 20), minor: content.bigEndian(UInt16.self, at: 22)),
            measuredPower: MeasuredPower(dBm: Int8(bitPattern: content[24])))
    }

    /// The level in the byte behind the frame, per cent, if it may be one.
    ///
    /// - Parameter content: Manufacturer specific data.
    static func trailingLevel(_ content: Span<UInt8>) -> UInt8? {
        guard content.count == contentLength + 1, hasPrefix(content), 1...100 ~= content[contentLength] else {
            return nil
        }
        return content[contentLength]
    }

    @inline(__always)
    private static func hasPrefix(_ content: Span<UInt8>) -> Bool {
        content.count >= 4 && content.bigEndian(UInt32.self, at: 0) == prefixNumber
    }

    /// `prefix` as one number.
    private static let prefixNumber: UInt32 = 0x4c00_0215
}
