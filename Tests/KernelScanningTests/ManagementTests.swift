import Beacon
import KernelScanning
import Scanning
import Testing

@Suite struct ManagementCommandTests {
    @Test(
        arguments: [
            (ManagementCommand.readIndexList, [0x03, 0x00, 0xff, 0xff, 0x00, 0x00]),
            (.setPowered(1, true), [0x05, 0x00, 0x01, 0x00, 0x01, 0x00, 0x01]),
            (.removeMonitor(0, handle: 0x0102), [0x53, 0x00, 0x00, 0x00, 0x02, 0x00, 0x02, 0x01]),
            (
                .setMonitorScan(0, .full),
                [0x4c, 0, 0, 0, 10, 0, 0x13, 0, 2, 0x60, 0, 0x14, 0, 2, 0x60, 0]
            ),
        ] as [(ManagementCommand, [UInt8])])
    func isLaidOutAsTheKernelReadsIt(command: ManagementCommand, bytes: [UInt8]) {
        #expect(command.bytes == bytes)
    }

    @Test func asksForEachPatternWithTheWholeRoomForIt() {
        let bytes = ManagementCommand.addMonitor(0, [.iBeacon] + BeaconPacketPattern.telemetry).bytes
        let count = 1 + BeaconPacketPattern.telemetry.count
        #expect(bytes.count == 6 + 1 + count * 34)
        #expect(Int(bytes[4]) | Int(bytes[5]) << 8 == 1 + count * 34 && Int(bytes[6]) == count)
        #expect(Array(bytes[7..<14]) == [0xff, 0, 4, 0x4c, 0x00, 0x02, 0x15])
        #expect(bytes[14..<41].allSatisfy { $0 == 0 })
        #expect(Array(bytes[41..<46]) == [0x16, 0, 2, 0xaa, 0xfe])
        #expect(bytes[46..<75].allSatisfy { $0 == 0 })
    }

    @Test func tellsTheKernelWhereAPatternBegins() {
        let pattern = BeaconPacketPattern(type: 0xff, offset: 2, start: [0xbe, 0xac])
        #expect(Array(ManagementCommand.addMonitor(0, [pattern]).bytes[6..<12]) == [1, 0xff, 2, 2, 0xbe, 0xac])
    }
}

@Suite struct ManagementEventTests {
    /// Recorded from Linux 6.1: a beacon told of by an advertisement monitor.
    static let found: [UInt8] =
        [0x2f, 0x00, 0x00, 0x00, 0x2e, 0x00, 0x00, 0x00, 0x0a, 0x00, 0x00, 0x00, 0x00, 0xc0, 0x02, 0xbf]
        + [0x00, 0x00, 0x00, 0x00, 0x1e, 0x00, 0x02, 0x01, 0x06, 0x1a, 0xff, 0x4c, 0x00, 0x02, 0x15]
        + [0xfd, 0xa5, 0x06, 0x93, 0xa4, 0xe2, 0x4f, 0xb1, 0xaf, 0xcf, 0xc6, 0xeb, 0x07, 0x64, 0x78, 0x25]
        + [0x27, 0x45, 0x10, 0x01, 0xc5]

    private func parse(_ bytes: [UInt8], hasMonitorHandle: Bool = true) -> FoundDevice? {
        FoundDevice(bytes.span.extracting(6...), hasMonitorHandle: hasMonitorHandle)
    }

    @Test func tellsOfABeaconThatAMonitorFound() throws {
        let device = try #require(parse(Self.found))
        #expect(device.report.address.description == "C0:00:00:00:00:0A")
        #expect(device.report.address.isRandom)
        #expect(device.report.rssi?.dBm == -65)
        var malformed = MalformedCounters()
        let data = Array(Self.found[6...][(6 + device.data.lowerBound)..<(6 + device.data.upperBound)])
        let beacon = try #require(IBeacon(advertisingData: data.span, malformed: &malformed))
        #expect(beacon.id.major == 10053 && beacon.id.minor == 4097)
    }

    @Test func tellsTheSameOfABeaconThatADiscoveryFound() throws {
        // Device Found is the same without the monitor's handle.
        var bytes = Self.found
        bytes.removeSubrange(6..<8)
        let device = try #require(parse(bytes, hasMonitorHandle: false))
        #expect(device.report.address.description == "C0:00:00:00:00:0A")
        #expect(device.data.count == 30)
    }

    @Test func refusesAReportCutAnywhere() {
        for length in 6..<Self.found.count {
            #expect(parse(Array(Self.found[..<length])) == nil, "cut to \(length)")
            #expect(ManagementHeader(Array(Self.found[..<length]).span) == nil, "cut to \(length)")
        }
    }

    @Test func hasNoStrengthWhereTheControllerGaveNone() throws {
        var bytes = Self.found
        bytes[15] = 127
        #expect(try #require(parse(bytes)).report.rssi == nil)
    }

    @Test func knowsADeviceThatIsNotLowEnergy() throws {
        var bytes = Self.found
        bytes[14] = 0
        #expect(try #require(parse(bytes)).isLowEnergy == false)
    }

    private func event(_ code: UInt16, _ parameters: [UInt8]) -> ManagementEvent? {
        ManagementEvent(code: code, parameters: parameters.span)
    }

    @Test func readsAnswersToCommands() {
        #expect(event(1, [0x03, 0, 0, 2, 0, 0, 0, 1, 0]) == .indexList([0, 1]))
        #expect(event(1, [0x52, 0, 0, 3, 0]) == .monitorAdded(handle: 3))
        #expect(event(2, [0x52, 0, 0x0a]) == .completed(.addPatternsMonitor, status: ManagementStatus.busy))
        #expect(event(2, [0x05, 0, 0x12]) == .completed(.setPowered, status: ManagementStatus.rfkilled))
        #expect(event(1, [0x02, 0, 0, 2, 0, 1, 0, 0x52, 0, 0x53, 0, 0x06, 0]) == .supportedCommands([0x52, 0x53]))
    }

    @Test func readsWhatHappensToAdapters() {
        #expect(event(4, []) == .indexAdded)
        #expect(event(5, []) == .indexRemoved)
        #expect(event(6, [1, 2, 0, 0]) == .newSettings([.powered, .lowEnergy]))
        #expect(event(0x2b, [1, 0]) == .monitorOfOther)
        #expect(event(0x2c, [1, 0]) == .monitorRemoved(handle: 1))
        #expect(event(0x2d, [1]) == .suspended)
        #expect(event(0x2e, [1, 0, 0, 0, 0, 0, 0, 0]) == .resumed)
    }

    @Test(
        arguments: [
            (1, [0x03, 0]), (1, [0x03, 0, 0, 2, 0, 0, 0]), (1, [0x04, 0, 0, 1, 2, 3]), (1, [0x52, 0, 0, 1]),
            (6, [1, 2]),
            (0x13, [1]), (0x2c, [1]), (1, [0x02, 0, 0, 0xff, 0xff, 0, 0]),
        ] as [(UInt16, [UInt8])])
    func refusesAnEventThatIsTooShort(code: UInt16, parameters: [UInt8]) {
        #expect(event(code, parameters) == nil)
    }

    @Test func passesOverEventsOfLaterKernels() {
        #expect(event(0x0abc, [1, 2, 3]) == .other)
        #expect(event(1, [0xbc, 0x0a, 0]) == .other)
    }
}

@Suite struct ScanFamilyTests {
    private func commands(octet37: UInt8) -> [UInt8] {
        var commands = [UInt8](repeating: 0, count: 64)
        commands[37] = octet37
        return commands
    }

    @Test(
        arguments: [(0x60, ScanFamily.extended), (0x20, .legacy), (0x40, .legacy), (0x00, .legacy), (0xff, .extended)]
            as [(UInt8, ScanFamily)])
    func isChosenByTheCommandsThatThereAre(octet37: UInt8, expected: ScanFamily) {
        #expect(ScanFamily(supportedCommands: commands(octet37: octet37).span) == expected)
    }

    @Test func isLegacyWhereTheAnswerIsShort() {
        #expect(ScanFamily(supportedCommands: [UInt8]().span) == .legacy)
    }

    @Test func scansPassivelyWithoutADuplicateFilter() {
        #expect(ScanFamily.legacy.parameters(.full) == [0, 0x60, 0, 0x60, 0, 0, 0])
        #expect(ScanFamily.extended.parameters(.full) == [0, 0, 1, 0, 0x60, 0, 0x60, 0])
        #expect(ScanFamily.legacy.enable(true) == [1, 0])
        #expect(ScanFamily.extended.enable(true) == [1, 0, 0, 0, 0, 0])
    }
}
