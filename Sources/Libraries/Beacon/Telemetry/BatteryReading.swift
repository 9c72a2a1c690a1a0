/// What a tag said about its battery: a level, a voltage, or both.
public struct BatteryReading: Hashable, Sendable, BitwiseCopyable {
    /// Per cent, 0 … 100, as the tag sent it; nil if it sent none.
    public let level: UInt8?
    /// Millivolts in `possibleMillivolts`; nil if the tag sent none, or one outside that range.
    public let millivolts: UInt16?

    /// Voltages of batteries: the highest are those of 12 V cells. The frames can carry up to 65 V, which only an error or
    /// a forger sends.
    public static let possibleMillivolts: ClosedRange<UInt16> = 1...15_000

    /// - Returns: nil for a level above 100 %, or if there is neither a level nor a possible voltage.
    public init?(level: UInt8? = nil, millivolts: UInt16? = nil) {
        let voltage = millivolts.flatMap { Self.possibleMillivolts.contains($0) ? $0 : nil }
        guard level ?? 0 <= 100, level != nil || voltage != nil else { return nil }
        self.level = level
        self.millivolts = voltage
    }

    /// Per cent, 0 … 100: the tag's own level, otherwise the level that the voltage means for a lithium coin cell.
    public var percent: UInt8 {
        level ?? Self.coinCell(millivolts ?? 0)
    }

    /// The discharge curve of a CR2032 under the load of a beacon, in straight lines between these points (millivolts,
    /// per cent). The points are those of Nordic Semiconductor's nRF5 SDK (`battery_level_in_percent`). They hold for
    /// one cell of 3 V at room temperature; cold and age lower the voltage.
    private static let points: InlineArray<5, (millivolts: Int, percent: Int)> = [
        (3000, 100), (2900, 42), (2740, 18), (2440, 6), (2100, 0),
    ]

    private static func coinCell(_ millivolts: UInt16) -> UInt8 {
        let voltage = Int(millivolts)
        guard voltage < points[0].millivolts else { return 100 }
        for index in 1..<points.count where voltage >= points[index].millivolts {
            let (above, below) = (points[index - 1], points[index])
            let share = (voltage - below.millivolts) * (above.percent - below.percent)
            return UInt8(below.percent + share / (above.millivolts - below.millivolts))
        }
        return 0
    }
}

extension BatteryReading {
    /// A battery is low from this level down, in per cent. By the curve of a coin cell this is 2.54 V. Most
    /// controllers of beacons stop between 1.7 and 2.1 V, and some weeks of a year-long life are left.
    static let low: UInt8 = 10
    /// A low battery is no longer low from this level up. In the frost a coin cell loses about 0.1 V, which is up to 10 %
    /// at this end of its curve; a new battery is far above.
    static let replaced: UInt8 = 20

    /// Whether a battery with this level has to be replaced soon.
    ///
    /// - Parameter wasLow: Whether it was low at the reading before.
    package static func isLow(_ percent: UInt8, wasLow: Bool) -> Bool {
        percent <= low || wasLow && percent < replaced
    }
}

extension BatteryReading: CustomStringConvertible {
    /// `12 %`, with the voltage if the tag sent it: `12 % (2.59 V)`.
    public var description: String {
        guard let millivolts else { return "\(percent) %" }
        let hundredths = (Int(millivolts) + 5) / 10
        return "\(percent) % (\(hundredths / 100).\(hundredths / 10 % 10)\(hundredths % 10) V)"
    }
}
