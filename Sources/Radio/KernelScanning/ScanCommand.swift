/// One of the commands that decide whether a controller scans, with what its parameters say (Core Specification 5.4, Vol 4,
/// Part E, 7.3.2, 7.8.10-11, 7.8.64-65). The answer to such a command has a status and nothing else.
struct ScanCommand: Hashable, Sendable {
    /// What the reports of a scan are worth.
    struct Parameters: Hashable, Sendable {
        /// Share of the time in which the radio listens, 0 … 1.
        var duty: Double
        /// Whether every advertiser is reported. With an accept list (policies 1 and 3) only those that are listed are.
        var reportsEveryone: Bool
        /// Whether it listens on the 1M PHY, on which beacons advertise.
        var hearsBeacons: Bool
    }

    enum Step: Hashable, Sendable {
        case parameters(Parameters)
        /// - Parameters:
        ///   - filtersDuplicates: Whether an advertiser is reported once only.
        ///   - duration: After this time the scan ends by itself; nil: it does not.
        case start(filtersDuplicates: Bool, duration: Duration?)
        case stop
        case reset
    }

    let opcode: UInt16
    /// The set of commands that it belongs to; nil: none (HCI Reset).
    let family: ScanFamily?
    let step: Step

    static let reset: UInt16 = 0x0c03
    /// All the opcodes.
    static let opcodes: [UInt16] = [reset, 0x200b, 0x200c, 0x2041, 0x2042]

    /// - Returns: nil for another command, or one whose parameters are cut.
    init?(opcode: UInt16, parameters: Span<UInt8>) {
        self.opcode = opcode
        guard opcode != Self.reset else {
            (family, step) = (nil, .reset)
            return
        }
        guard opcode >> 10 == ScanFamily.group else { return nil }
        let command = opcode & 0x03ff
        guard let family = [ScanFamily.legacy, .extended].first(where: { $0.contains(command) }) else { return nil }
        self.family = family
        let step = command == family.enableCommand ? Self.enable(parameters) : Self.set(parameters, family)
        guard let step else { return nil }
        self.step = step
    }

    /// Enable and duplicate filter; extended: also a duration in units of 10 ms, 0 for none, and a period.
    private static func enable(_ parameters: Span<UInt8>) -> Step? {
        guard parameters.count >= 2 else { return nil }
        guard parameters[0] != 0 else { return .stop }
        let units = parameters.littleEndian16(at: 2) ?? 0
        return .start(
            filtersDuplicates: parameters[1] != 0,
            duration: units == 0 ? nil : .milliseconds(10 * Int(units)))
    }

    /// Legacy: type, interval, window, own address type, policy. Extended: own address type, policy, PHYs, then type, interval and
    /// window for each of them; that of 1M comes first.
    private static func set(_ parameters: Span<UInt8>, _ family: ScanFamily) -> Step? {
        let isLegacy = family == .legacy
        let (policy, interval) = isLegacy ? (6, 1) : (1, 4)
        guard parameters.count > policy, let interval = parameters.littleEndian16(at: interval),
            let window = parameters.littleEndian16(at: isLegacy ? 3 : 6)
        else { return nil }
        return .parameters(
            Parameters(
                duty: interval == 0 ? 0 : min(1, Double(window) / Double(interval)),
                reportsEveryone: parameters[policy] & 1 == 0, hearsBeacons: isLegacy || parameters[2] & 1 == 1))
    }
}
