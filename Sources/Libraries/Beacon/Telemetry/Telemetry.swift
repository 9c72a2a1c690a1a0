/// What a tag says about itself in a packet beside its iBeacon frame. The packet does not name the iBeacon:
/// `TelemetryJoiner` finds it.
package struct Telemetry: Hashable, Sendable, BitwiseCopyable {
    /// The formats that are read, by the 16-bit UUID of their service data. Docs/batteries.md has the source of each. The order is
    /// that of importance: bluetoothd's monitor takes the first six.
    ///
    /// To add a format: a case at the end, its line in the switch of `init(advertisingData:malformed:)`, and the bit `UUID & 63` in
    /// `lowBits`, without which it is never recognised (a test derives the number). An initialiser of `Frame` reads it: a frame that is not
    /// whole is `.inexact` if it could be recognised before, else `.other`.
    package enum Format: UInt16, CaseIterable, Sendable, BitwiseCopyable {
        /// Eddystone-TLM of any manufacturer, and the sensor frames of KKM and BlueCharm.
        case eddystone = 0xfeaa
        case estimote = 0xfe9a
        case kontakt = 0xfe6a
        case minew = 0xffe1
        case feasycom = 0xfff0
        case holyiot = 0x5242
        case jaalee = 0xf525
        case jaaleeSecond = 0xf51c
        case batteryService = 0x180f
        case moko = 0xff01
        case btHome = 0xfcd2
    }

    package let format: Format
    package let battery: BatteryReading
    /// Degrees Celsius; nil if the tag sent none.
    package let temperature: Float?

    package init(_ format: Format, battery: BatteryReading, temperature: Float? = nil) {
        self.format = format
        self.battery = battery
        self.temperature = temperature
    }

    /// Finds the first telemetry frame with a battery in one advertising packet.
    ///
    /// A frame is valid only if it is whole; other frames are counted. Structures that run past the end of the packet
    /// are not counted here, because the search for an iBeacon counted them.
    package init?(advertisingData data: Span<UInt8>, malformed: inout MalformedCounters) {
        var found: Telemetry?
        var inexact = false
        AdvertisingData.forEachStructure(in: data) { type, content in
            guard type == AdvertisingData.serviceData16, let format = Self.format(of: content) else { return true }
            let body = content.extracting(droppingFirst: 2)
            let frame: Frame =
                switch format {
                case .eddystone: Frame(eddystone: body)
                case .estimote: Frame(estimote: body)
                case .kontakt: Frame(kontakt: body)
                case .minew: Frame(minew: body)
                case .feasycom: Frame(feasycom: body)
                case .holyiot: Frame(holyiot: body)
                case .jaalee, .jaaleeSecond: Frame(jaalee: body, format)
                case .batteryService: Frame(batteryService: body)
                case .moko: Frame(moko: body)
                case .btHome: Frame(btHome: body)
                }
            switch frame {
            case .other: break
            case .inexact: inexact = true
            case .telemetry(let telemetry): found = telemetry
            }
            return found == nil
        }
        if inexact { malformed.count(.inexactTelemetry) }
        guard let found else { return nil }
        self = found
    }

    /// The format of service data by its UUID; nil for other services, and if no data follows the UUID.
    static func format(of content: Span<UInt8>) -> Format? {
        guard mayBeFormat(content) else { return nil }
        return Format(rawValue: content.littleEndian(UInt16.self, at: 0))
    }

    /// The last six bits of the UUIDs of all formats, a bit for each value. This is all that is checked for every report: comparing
    /// with each format would be slower. A test derives the number from `Format`. It is a literal because the compiler of the packages
    /// takes too long over an expression of shifts.
    static let lowBits: UInt64 = 0x0001_0422_1404_8006

    /// Whether service data may be of a format. About one in six other services passes, too.
    @inline(__always)
    static func mayBeFormat(_ content: Span<UInt8>) -> Bool {
        content.count > 2 && lowBits >> UInt64(content[0] & 63) & 1 == 1
    }

    /// One structure of service data whose UUID is one of `Format`.
    enum Frame: Equatable {
        /// A frame of another kind, or one in which the tag sends no battery.
        case other
        /// A telemetry frame that is not whole, or whose values are outside their range.
        case inexact
        case telemetry(Telemetry)
    }
}

extension Telemetry.Frame {
    /// A reading that may be absent because the tag does not measure.
    init(_ format: Telemetry.Format, level: UInt8?, millivolts: UInt16? = nil, temperature: Float? = nil) {
        guard level ?? 0 <= 100 else {
            self = .inexact
            return
        }
        let battery = BatteryReading(level: level, millivolts: millivolts)
        self = battery.map { .telemetry(Telemetry(format, battery: $0, temperature: temperature)) } ?? .other
    }
}
