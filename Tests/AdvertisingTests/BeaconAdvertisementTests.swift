import Base
import Beacon
import KernelScanning
import Scanning
import Testing

@testable import Advertising

/// The beacon that a gateway sends, over a kernel whose every answer the test writes.
@Suite struct BeaconAdvertisementTests {
    private static let beacon = BeaconID(uuid: BeaconUUID(high: 1, low: 2), major: 0, minor: 3)
    private static let on: ControllerSettings = [.powered, .lowEnergy]

    /// The value, the time, and the effects that nobody has looked at yet.
    private struct Fixture {
        var value = BeaconAdvertisement()
        var now = MonotonicInstant.zero.advanced(by: .seconds(100))
        private var effects: [AdvertisingEffect] = []

        mutating func drain() -> [String] {
            defer { effects = [] }
            return effects.map(\.description)
        }
        mutating func drainCommands() -> [ManagementCommand] {
            defer { effects = [] }
            return effects.compactMap { if case .send(let command) = $0 { command } else { nil } }
        }

        mutating func want(_ beacon: BeaconID?) { effects += value.want(beacon, at: now) }
        mutating func found(_ places: [AdvertisementPlace]) { effects += value.found(places, at: now) }
        mutating func end() { effects += value.end() }
        mutating func adapter(_ index: UInt16, _ settings: ControllerSettings = BeaconAdvertisementTests.on) {
            effects += value.adapter(index, Self.address(index), settings, at: now)
        }
        mutating func settings(_ settings: ControllerSettings, of index: UInt16 = 0) {
            effects += value.settings(settings, of: index, at: now)
        }
        mutating func gone(_ index: UInt16) { effects += value.adapterGone(index, at: now) }
        mutating func answer(
            _ opcode: ManagementCommand.Opcode, _ index: UInt16 = 0, status: UInt8 = 0, result: [UInt8] = []
        ) {
            effects += value.answered(opcode, by: index, status: status, result, at: now)
        }
        /// - Parameter used: The numbers of other programs.
        mutating func features(_ index: UInt16 = 0, sets: Bool, most: UInt8 = 5, used: [UInt8] = []) {
            let flags: [UInt8] = sets ? [0xff, 0xff, 1, 0] : [0x7f, 0xf0, 1, 0]
            answer(.readAdvertisingFeatures, index, result: flags + [31, 31, most, UInt8(used.count)] + used)
        }
        mutating func removed(_ instance: UInt8, _ index: UInt16 = 0) {
            effects += value.removed(index, instance: instance, at: now)
        }
        /// Lets time pass up to the next deadline, or no further than this.
        mutating func wait(_ duration: Duration) {
            let end = now.advanced(by: duration)
            while let due = value.nextDeadline, due <= end {
                now = max(now, due)
                effects += value.tick(at: now)
            }
            now = end
        }

        static func address(_ index: UInt16) -> DeviceAddress {
            DeviceAddress(value: 0xaa00 + UInt64(index), isRandom: false)
        }
    }

    /// One adapter sends.
    private func sending(sets: Bool) -> Fixture {
        var fixture = Fixture()
        fixture.want(Self.beacon)
        fixture.adapter(0)
        fixture.features(sets: sets)
        if sets {
            fixture.answer(.addExtendedAdvertisingParameters, result: [5, 7, 31, 31])
            fixture.answer(.addExtendedAdvertisingData, result: [5])
        } else {
            fixture.answer(.addAdvertising, result: [5])
        }
        _ = fixture.drain()
        return fixture
    }

    // MARK: The commands

    @Test func `A beacon is an iBeacon frame with the power of most beacons, and no Flags`() throws {
        let data = Self.beacon.advertisingData
        #expect(data.count == 27)
        var malformed = MalformedCounters()
        let frame = try #require(IBeacon(advertisingData: data.span, malformed: &malformed))
        #expect(frame.id == Self.beacon && frame.measuredPower.dBm == -59 && malformed.total == 0)
    }

    @Test func `The commands are laid out as the kernel reads them`() {
        #expect(
            ManagementCommand.addAdvertisingParameters(1, instance: 5, interval: .seconds(1)).bytes == [
                0x54, 0, 1, 0, 18, 0, 5, 0, 0x40, 0, 0, 0, 0, 0, 0, 0x40, 6, 0, 0, 0x40, 6, 0, 0, 0,
            ])
        #expect(
            ManagementCommand.addAdvertisingData(0, instance: 5, [2, 9]).bytes == [0x55, 0, 0, 0, 5, 0, 5, 2, 0, 2, 9])
        #expect(
            ManagementCommand.addAdvertising(0, instance: 5, [2, 9], seconds: 6).bytes
                == [0x3e, 0, 0, 0, 13, 0, 5, 0, 0, 0, 0, 0, 0, 6, 0, 2, 0, 2, 9])
    }

    // MARK: A controller with advertising sets

    @Test func `Nothing is asked of the kernel while no beacon is wanted`() {
        var fixture = Fixture()
        fixture.adapter(0)
        fixture.settings(.lowEnergy)
        fixture.settings(Self.on)
        fixture.removed(1)
        fixture.wait(.seconds(3600))
        #expect(fixture.drain() == [] && fixture.value.isAtRest && fixture.value.nextDeadline == nil)
        #expect(fixture.value.state == .off)
    }

    @Test
    func
        `It is sent once a second, under the highest free number, and claimed after the kernel has confirmed both halves`()
    {
        var fixture = Fixture()
        fixture.want(Self.beacon)
        #expect(fixture.drain() == [] && fixture.value.state == .asked)
        fixture.adapter(0)
        #expect(fixture.drain() == ["readAdvertisingFeatures 0"])
        fixture.features(sets: true, used: [1, 5])
        #expect(fixture.drainCommands() == [.addAdvertisingParameters(0, instance: 4, interval: .seconds(1))])
        #expect(fixture.value.places == [.init(adapter: Fixture.address(0), instance: 4)], "before the kernel has it")
        fixture.answer(.addExtendedAdvertisingParameters, result: [4, 7, 31, 31])
        #expect(fixture.drainCommands() == [.addAdvertisingData(0, instance: 4, Self.beacon.advertisingData)])
        #expect(fixture.value.state == .asked)
        fixture.answer(.addExtendedAdvertisingData, result: [4])
        #expect(fixture.value.state == .sends(adapter: 0, interval: .seconds(1), burst: nil))
        fixture.wait(.seconds(3600))
        #expect(fixture.drain() == [], "it lasts")
    }

    @Test func `When it is no longer wanted it is removed, and nothing stays`() {
        var fixture = sending(sets: true)
        fixture.want(nil)
        #expect(fixture.drainCommands() == [.removeAdvertising(0, instance: 5)])
        #expect(fixture.value.state == .off && !fixture.value.isAtRest)
        fixture.answer(.removeAdvertising, result: [5])
        #expect(fixture.value.isAtRest && fixture.value.places == [])
    }

    @Test func `Another minor replaces it`() {
        var fixture = sending(sets: true)
        fixture.want(BeaconID(uuid: Self.beacon.uuid, major: 0, minor: 4))
        #expect(fixture.drain() == ["removeAdvertising 0"])
        fixture.answer(.removeAdvertising, result: [5])
        #expect(fixture.drain() == ["readAdvertisingFeatures 0"])
    }

    @Test func `What is no longer wanted before the kernel has answered is removed after its answer`() {
        var fixture = Fixture()
        fixture.want(Self.beacon)
        fixture.adapter(0)
        fixture.features(sets: true)
        fixture.answer(.addExtendedAdvertisingParameters, result: [5, 7, 31, 31])
        _ = fixture.drain()
        fixture.want(nil)
        #expect(fixture.drain() == [])
        fixture.answer(.addExtendedAdvertisingData, result: [5])
        #expect(fixture.drain() == ["removeAdvertising 0"] && fixture.value.state == .off)
    }

    @Test(arguments: [true, false])
    func `After the adapter was off it is added again`(isUnplugged: Bool) {
        var fixture = sending(sets: true)
        if isUnplugged { fixture.gone(0) } else { fixture.settings(.lowEnergy) }
        #expect(fixture.value.state == .asked && fixture.value.places == [])
        fixture.wait(.seconds(3))
        #expect(fixture.drain() == [], "the kernel has removed it")
        if isUnplugged { fixture.adapter(0) } else { fixture.settings(Self.on) }
        #expect(fixture.drain() == ["readAdvertisingFeatures 0"])
    }

    @Test func `What another program removes comes back a moment later`() {
        var fixture = sending(sets: true)
        fixture.removed(1)
        #expect(fixture.value.state != .asked, "that of another program")
        fixture.removed(5)
        #expect(fixture.value.state == .asked && fixture.drain() == [])
        fixture.wait(.milliseconds(250))
        #expect(fixture.drain() == ["readAdvertisingFeatures 0"])
    }

    @Test func `The end of the program removes it without waiting, also one whose answer has not come`() {
        var fixture = sending(sets: true)
        fixture.end()
        #expect(fixture.drainCommands() == [.removeAdvertising(0, instance: 5)] && fixture.value.places == [])
        fixture = Fixture()
        fixture.want(Self.beacon)
        fixture.adapter(0)
        fixture.features(sets: true)
        _ = fixture.drain()
        fixture.end()
        #expect(fixture.drainCommands() == [.removeAdvertising(0, instance: 5)])
    }

    // MARK: An earlier run

    @Test func `What an earlier run has left is removed before anything is added, at the adapter with its address`() {
        var fixture = Fixture()
        fixture.found([.init(adapter: Fixture.address(1), instance: 3)])
        fixture.want(Self.beacon)
        fixture.adapter(1)
        #expect(fixture.drainCommands() == [.removeAdvertising(1, instance: 3)])
        fixture.answer(.removeAdvertising, 1, status: ManagementStatus.invalidParameters)
        #expect(fixture.drain() == ["readAdvertisingFeatures 1"] && fixture.value.places == [])
    }

    @Test func `Without its adapter nothing was left, because a controller without power forgets`() {
        var fixture = Fixture()
        fixture.found([.init(adapter: Fixture.address(1), instance: 3)])
        fixture.adapter(0)
        fixture.wait(.seconds(5))
        #expect(fixture.drain() == [] && fixture.value.isAtRest)
    }

    // MARK: Several adapters

    @Test func `Of several adapters the first with advertising sets sends, and no other`() {
        var fixture = Fixture()
        for index in 0..<3 as Range<UInt16> { fixture.adapter(index) }
        fixture.want(Self.beacon)
        for index in 0..<3 as Range<UInt16> {
            #expect(fixture.drain() == ["readAdvertisingFeatures \(index)"])
            fixture.features(index, sets: index > 0)
        }
        #expect(fixture.drain() == ["readAdvertisingFeatures 1"])
        fixture.features(1, sets: true)
        #expect(fixture.drain() == ["addExtendedAdvertisingParameters 1"])
    }

    @Test
    func
        `If one refuses, the next is asked; if all do, the first refusal is told, and after a minute they are asked again`()
    {
        var fixture = Fixture()
        fixture.adapter(0)
        fixture.adapter(1)
        fixture.want(Self.beacon)
        fixture.answer(.readAdvertisingFeatures, 0, status: 0x0c)
        _ = fixture.drain()
        fixture.features(1, sets: true)
        #expect(fixture.drain() == ["addExtendedAdvertisingParameters 1"] && fixture.value.state == .asked)
        fixture.answer(.addExtendedAdvertisingParameters, 1, status: 0x0b)
        #expect(
            refusal(fixture) == "hci0 does not send it: the kernel refuses readAdvertisingFeatures: Not Supported")
        #expect(fixture.drain() == [])
        fixture.wait(.seconds(59))
        #expect(fixture.drain() == [])
        fixture.wait(.seconds(1))
        #expect(fixture.drain() == ["readAdvertisingFeatures 0"])
        fixture.answer(.readAdvertisingFeatures, 0, status: 0x0c)
        #expect(fixture.drain() == ["readAdvertisingFeatures 1"], "and not the first one again")
        #expect(refusal(fixture) != nil, "it stays until one sends")
    }

    // MARK: Refusals

    private func refusal(_ fixture: Fixture) -> String? {
        if case .refused(let problem) = fixture.value.state { problem.text } else { nil }
    }

    @Test(
        arguments: [
            (.readAdvertisingFeatures, 0x14, "the kernel refuses readAdvertisingFeatures: Permission Denied"),
            (.addExtendedAdvertisingParameters, 0x0b, "the kernel refuses addExtendedAdvertisingParameters: Rejected"),
            (.addExtendedAdvertisingData, 0x0d, "the kernel refuses addExtendedAdvertisingData: Invalid Parameters"),
        ] as [(ManagementCommand.Opcode, UInt8, String)])
    func `A refusal has the kernel's words`(opcode: ManagementCommand.Opcode, status: UInt8, reason: String) {
        var fixture = Fixture()
        fixture.want(Self.beacon)
        fixture.adapter(0)
        for step in [.readAdvertisingFeatures, .addExtendedAdvertisingParameters, .addExtendedAdvertisingData]
            as [ManagementCommand.Opcode]
        {
            guard step != opcode else { break }
            if step == .readAdvertisingFeatures { fixture.features(sets: true) } else { fixture.answer(step) }
        }
        fixture.answer(opcode, status: status)
        #expect(refusal(fixture) == "hci0 does not send it: \(reason)")
        #expect(fixture.value.places == [])
    }

    @Test func `Without the right to ask, the refusal says which capability is missing`() {
        var fixture = Fixture()
        fixture.want(Self.beacon)
        fixture.adapter(0)
        fixture.answer(.readAdvertisingFeatures, status: ManagementStatus.permissionDenied)
        guard case .refused(let problem) = fixture.value.state else {
            Issue.record("\(fixture.value.state)")
            return
        }
        #expect(problem.remedy == Capability.netAdmin.remedy)
    }

    @Test func `Busy is asked again three times before it is a refusal`() {
        var fixture = Fixture()
        fixture.want(Self.beacon)
        fixture.adapter(0)
        for _ in 0..<3 {
            fixture.answer(.readAdvertisingFeatures, status: ManagementStatus.busy)
            #expect(fixture.value.state == .asked)
            _ = fixture.drain()
            fixture.wait(.seconds(1))
            #expect(fixture.drain() == ["readAdvertisingFeatures 0"])
        }
        fixture.answer(.readAdvertisingFeatures, status: ManagementStatus.busy)
        #expect(refusal(fixture)?.hasSuffix("Busy") == true)
    }

    @Test func `A kernel that does not answer is given ten seconds`() {
        var fixture = Fixture()
        fixture.want(Self.beacon)
        fixture.adapter(0)
        fixture.wait(.seconds(9.9))
        #expect(fixture.value.state == .asked)
        fixture.wait(.seconds(0.1))
        #expect(refusal(fixture) == "hci0 does not send it: the kernel does not answer")
    }

    @Test func `No adapter is a refusal after five seconds, and none any more when one comes`() {
        var fixture = Fixture()
        fixture.adapter(0, .lowEnergy)
        fixture.want(Self.beacon)
        fixture.wait(.seconds(4.9))
        #expect(fixture.value.state == .asked)
        fixture.wait(.seconds(0.1))
        #expect(refusal(fixture) == "no adapter is there that could send it, or none is on")
        fixture.settings(Self.on)
        #expect(fixture.drain() == ["readAdvertisingFeatures 0"])
    }

    @Test(
        arguments: [
            ([], 0, "hci0 does not send it: it cannot advertise, or has no room for another advertisement"),
            ([1, 2], 2, "hci0 does not send it: it cannot advertise, or has no room for another advertisement"),
        ] as [([UInt8], UInt8, String)])
    func `A controller without room is a refusal`(used: [UInt8], most: UInt8, reason: String) {
        var fixture = Fixture()
        fixture.want(Self.beacon)
        fixture.adapter(0)
        fixture.features(sets: true, most: most, used: used)
        #expect(refusal(fixture) == reason)
    }

    @Test func `While the kernel's own advertising is on, it sends no other one, and that is a refusal`() {
        var fixture = Fixture()
        fixture.want(Self.beacon)
        fixture.adapter(0, [.powered, .lowEnergy, .advertising])
        fixture.features(sets: true)
        #expect(refusal(fixture)?.contains("the kernel's own advertising") == true)
        fixture.settings(Self.on)
        #expect(fixture.drain() == ["readAdvertisingFeatures 0", "readAdvertisingFeatures 0"])
    }

    // MARK: A controller without advertising sets

    @Test
    func `Without advertising sets the beacon is on the air for 6 s of each minute, and the kernel ends each burst`() {
        var fixture = Fixture()
        fixture.want(Self.beacon)
        fixture.adapter(0)
        _ = fixture.drain()
        for _ in 0..<3 {
            fixture.features(sets: false)
            #expect(
                fixture.drainCommands()
                    == [.addAdvertising(0, instance: 5, Self.beacon.advertisingData, seconds: 6)])
            fixture.answer(.addAdvertising, result: [5])
            guard case .sends(0, let interval, .seconds(6)) = fixture.value.state else {
                Issue.record("\(fixture.value.state)")
                return
            }
            #expect(interval > .seconds(1), "less than one packet a second")
            #expect(fixture.value.places == [], "it ends by itself")
            fixture.wait(.seconds(6))
            fixture.removed(5)
            fixture.wait(.seconds(53))
            #expect(fixture.drain() == [])
            fixture.wait(.seconds(1))
            #expect(fixture.drain() == ["readAdvertisingFeatures 0"])
        }
    }

    @Test
    func
        `Where the adapter is connectable the kernel sends slower, and the beacon is on the air for most of the minute`()
    {
        var fixture = Fixture()
        fixture.want(Self.beacon)
        fixture.adapter(0, [.powered, .lowEnergy, .connectable])
        _ = fixture.drain()
        fixture.features(sets: false)
        #expect(
            fixture.drainCommands() == [.addAdvertising(0, instance: 5, Self.beacon.advertisingData, seconds: 54)])
        fixture.answer(.addAdvertising, result: [5])
        #expect(
            fixture.value.state
                == .sends(adapter: 0, interval: BurstOfMinute(isConnectable: true).interval, burst: .seconds(54)))
        fixture.wait(.seconds(60))
        #expect(fixture.drain() == ["readAdvertisingFeatures 0"], "also if the end was not told")
    }

    @Test(arguments: [true, false])
    func `A burst has less than one packet a second in the mean`(isConnectable: Bool) {
        let burst = BurstOfMinute(isConnectable: isConnectable)
        #expect(burst.interval > .seconds(1) && burst.interval < .milliseconds(1500))
    }

    @Test func `A burst whose end is not told does not stop the next one`() {
        var fixture = sending(sets: false)
        fixture.wait(.seconds(59))
        #expect(fixture.drain() == [])
        fixture.wait(.seconds(1))
        #expect(fixture.drain() == ["readAdvertisingFeatures 0"])
    }

    @Test(arguments: [ManagementStatus.busy, ManagementStatus.failed])
    func
        `Where the controller takes no address while it scans, the scan pauses for the command, each time from then on`(
            status: UInt8
        )
    {
        var fixture = Fixture()
        fixture.want(Self.beacon)
        fixture.adapter(0)
        fixture.features(sets: false)
        _ = fixture.drain()
        fixture.answer(.addAdvertising, status: status)
        #expect(fixture.drain() == ["pause 0"])
        fixture.wait(.milliseconds(20))
        #expect(fixture.drain() == ["addAdvertising 0"])
        // The controller has not ended its scan yet.
        fixture.answer(.addAdvertising, status: status)
        #expect(fixture.drain() == ["pause 0"])
        fixture.wait(.milliseconds(20))
        #expect(fixture.drain() == ["addAdvertising 0"])
        fixture.answer(.addAdvertising, result: [5])
        #expect(fixture.drain() == ["go on 0"])
        guard case .sends = fixture.value.state else {
            Issue.record("\(fixture.value.state)")
            return
        }
        fixture.wait(.seconds(60))
        _ = fixture.drain()
        fixture.features(sets: false)
        #expect(fixture.drain() == ["pause 0"])
    }

    @Test func `If it takes none either while its scan pauses, the scan goes on and the refusal is told`() {
        var fixture = Fixture()
        fixture.want(Self.beacon)
        fixture.adapter(0)
        fixture.features(sets: false)
        for round in 0..<4 {
            for _ in 0...5 {
                fixture.answer(.addAdvertising, status: ManagementStatus.busy)
                fixture.wait(.milliseconds(20))
            }
            #expect(fixture.drain().last == "go on 0")
            guard round < 3 else { break }
            fixture.wait(.seconds(1))
            fixture.features(sets: false)
            fixture.wait(.milliseconds(20))
        }
        #expect(refusal(fixture)?.hasSuffix("the kernel refuses addAdvertising: Busy") == true)
        // A minute later one round is enough to know.
        fixture.wait(.seconds(60))
        fixture.features(sets: false)
        fixture.wait(.milliseconds(20))
        for _ in 0...5 {
            fixture.answer(.addAdvertising, status: ManagementStatus.busy)
            fixture.wait(.milliseconds(20))
        }
        _ = fixture.drain()
        fixture.wait(.seconds(30))
        #expect(fixture.drain() == [])
    }

    @Test func `Beside the advertisement of another program nothing is sent, because the two would take turns`() {
        var fixture = Fixture()
        fixture.want(Self.beacon)
        fixture.adapter(0)
        fixture.features(sets: false, used: [1])
        #expect(refusal(fixture)?.contains("another program advertises") == true)
        fixture.wait(.seconds(60))
        _ = fixture.drain()
        fixture.features(sets: false)
        #expect(fixture.drain() == ["addAdvertising 0"])
    }

    @Test func `An adapter that goes off between two bursts is no longer claimed to send`() {
        var fixture = sending(sets: false)
        fixture.removed(5)
        fixture.wait(.seconds(10))
        fixture.settings(.lowEnergy)
        #expect(fixture.value.state == .asked)
        fixture.settings(Self.on)
        #expect(fixture.drain() == ["readAdvertisingFeatures 0"])
    }
}
