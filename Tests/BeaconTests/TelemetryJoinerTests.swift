import Base
import TestSupport
import Testing

@testable import Beacon

@Suite("Telemetry is joined to the iBeacon that the same address sends before and after it")
struct TelemetryJoinerTests {
    private static let telemetry: Telemetry? = BatteryReading(millivolts: 2900).map {
        Telemetry(.eddystone, battery: $0)
    }
    private static let here = Receiver(index: 0)

    private static func address(_ value: UInt64, isRandom: Bool = true) -> DeviceAddress {
        DeviceAddress(value: value, isRandom: isRandom)
    }

    private static func beacon(_ minor: UInt16) -> BeaconID { BeaconID(uuid: Packets.uuid, major: 1, minor: minor) }

    /// Frames at tenths of a second, and the joins they give.
    private struct Air {
        var joiner = TelemetryJoiner()
        var joined: [UInt16] = []

        /// The device becomes known by its first telemetry frame.
        init() { tlm(0) }

        mutating func tlm(_ time: Int64, _ address: UInt64 = 0xa, isRandom: Bool = true, by receiver: UInt16 = 0) {
            guard let telemetry else { return }
            joiner.heard(
                telemetry, from: TelemetryJoinerTests.address(address, isRandom: isRandom),
                by: Receiver(index: receiver), at: Self.instant(time))
        }

        mutating func ibeacon(
            _ time: Int64, _ minor: UInt16 = 1, _ address: UInt64 = 0xa, isRandom: Bool = true, by receiver: UInt16 = 0
        ) {
            let found = joiner.heard(
                beacon(minor), from: TelemetryJoinerTests.address(address, isRandom: isRandom),
                by: Receiver(index: receiver), at: Self.instant(time))
            if found != nil { joined.append(minor) }
        }

        static func instant(_ tenths: Int64) -> MonotonicInstant {
            MonotonicInstant(nanoseconds: 1_000_000_000_000 + tenths * 100_000_000)
        }
    }

    @Test("a frame between two sightings of one iBeacon is joined to it, once")
    func between() {
        var air = Air()
        air.ibeacon(1)
        air.tlm(2)
        #expect(air.joined.isEmpty)
        air.ibeacon(3)
        air.ibeacon(4)
        #expect(air.joined == [1])
    }

    @Test("the first frame of a device makes it known, and is not joined")
    func first() {
        var air = Air()
        air.ibeacon(1)
        #expect(air.joined.isEmpty)
    }

    @Test("a sighting that is older than the window does not count, before or behind")
    func window() {
        var air = Air()
        air.ibeacon(10)
        air.tlm(61)
        air.ibeacon(62)
        #expect(air.joined.isEmpty)
        air.tlm(63)
        air.ibeacon(114)
        #expect(air.joined.isEmpty)
        air.tlm(164)
        air.ibeacon(214)
        #expect(air.joined == [1])
    }

    @Test("an address with two iBeacons within the window gets nothing, until one is alone again")
    func ambiguous() {
        var air = Air()
        for time in stride(from: 1, to: 40, by: 4) as StrideTo<Int64> {
            air.ibeacon(time, 1)
            air.ibeacon(time + 1, 2)
            air.tlm(time + 2)
            air.ibeacon(time + 3, 2)
        }
        #expect(air.joined.isEmpty)
        for time in stride(from: 41, to: 120, by: 4) as StrideTo<Int64> {
            air.ibeacon(time, 2)
            air.tlm(time + 1)
        }
        #expect(air.joined.allSatisfy { $0 == 2 } && !air.joined.isEmpty)
    }

    @Test("an address that another device takes over joins nothing across the change")
    func takenOver() {
        var air = Air()
        air.ibeacon(1, 1)
        air.tlm(2)
        air.ibeacon(3, 2)
        air.tlm(4)
        air.ibeacon(5, 2)
        #expect(air.joined.isEmpty)
    }

    @Test(
        "another address, another kind of address and another receiver are other devices",
        arguments: [(0xb, true, 0), (0xa, false, 0), (0xa, true, 1)] as [(UInt64, Bool, UInt16)])
    func otherDevice(address: UInt64, isRandom: Bool, receiver: UInt16) {
        var air = Air()
        air.ibeacon(1)
        air.tlm(2, address, isRandom: isRandom, by: receiver)
        air.ibeacon(3)
        #expect(air.joined.isEmpty)
        air.tlm(4)
        air.ibeacon(5)
        #expect(air.joined == [1])
    }

    @Test("devices beyond the bound replace the ones whose telemetry is oldest")
    func bounded() {
        var air = Air()
        for number in 0..<UInt64(TelemetryJoiner.capacity * 4) { air.tlm(1 + Int64(number) / 100, 0x1000 + number) }
        air.ibeacon(50)
        air.tlm(51)
        air.ibeacon(52)
        air.tlm(53)
        air.ibeacon(54)
        #expect(air.joined.last == 1)
    }

    /// Devices with private addresses that rotate, each with an iBeacon and telemetry whose voltage names the device.
    /// Some addresses pass from one device to another in the moment of a rotation, as an unlucky choice would make it.
    private struct Fleet {
        struct Device {
            var address: UInt64
            var nextRotation: Int64
            let firstFrame: Int64
        }

        var devices: [Device]
        var random: SplitMix64
        /// Addresses that a device has just left.
        var left: [UInt64] = []

        init(_ count: Int, seed: UInt64) {
            random = SplitMix64(seed: seed)
            devices = []
            for _ in 0..<count {
                devices.append(
                    Device(
                        address: random.next() & 0x3fff_ffff_ffff,
                        nextRotation: Int64.random(in: 0...120_000, using: &random),
                        firstFrame: Int64.random(in: 0...500, using: &random)))
            }
        }

        /// Milliseconds between two rotations: from the shortest in use to minutes. No device gets an address back
        /// within twice the window, because it keeps each longer than that.
        private static let stay: ClosedRange<Int64> = 11_000...180_000

        mutating func rotate(_ index: Int, at time: Int64) {
            let old = devices[index].address
            let takesOver = Bool.random(using: &random) && !left.isEmpty
            devices[index].address = takesOver ? left.removeLast() : random.next() & 0x3fff_ffff_ffff
            left.append(old)
            devices[index].nextRotation = time + Int64.random(in: Self.stay, using: &random)
        }
    }

    @Test(
        "of a million frames from rotating addresses, none is joined to another beacon", arguments: [1, 2] as [UInt64])
    func rotating(seed: UInt64) {
        var fleet = Fleet(40, seed: seed)
        var decoder = BeaconDecoder()
        // The packets of each device. The minor and the millivolts are the number of the device.
        let numbers = fleet.devices.indices.map { UInt16($0 + 1) }
        let beacons = numbers.map { Packets.flags + Packets.beacon(minor: $0) }
        let telemetry = numbers.map { number in
            Packets.flags
                + TelemetryTests.serviceData(
                    0xfeaa, packet([0x20, 0x00], bigEndianBytes(number), [UInt8](repeating: 0, count: 10)))
        }
        var (frames, sightings, joined, wrong) = (0, 0, 0, 0)
        var time: Int64 = 0
        // The devices whose next frame is sent in a tick of 10 ms. The next frame of a device is at most 150 ticks away.
        var due = [[Int]](repeating: [], count: 256)
        func slot(_ time: Int64) -> Int { Int((time + 9) / 10 % 256) }
        for (index, device) in fleet.devices.enumerated() { due[slot(max(10, device.firstFrame))].append(index) }
        while frames < 500_000 {
            time += 10
            guard !due[slot(time)].isEmpty else { continue }
            let sending = due[slot(time)].sorted()
            due[slot(time)] = []
            for index in sending {
                if fleet.devices[index].nextRotation <= time { fleet.rotate(index, at: time) }
                due[slot(time + Int64.random(in: 200...1500, using: &fleet.random))].append(index)
                // A third of all frames is lost.
                guard Int.random(in: 0..<3, using: &fleet.random) > 0 else { continue }
                frames += 1
                let data = Int.random(in: 0..<4, using: &fleet.random) == 0 ? telemetry[index] : beacons[index]
                let address = DeviceAddress(value: fleet.devices[index].address, isRandom: true)
                let sighting = decoder.sighting(
                    in: data.span, of: AdvertisingReport(address: address, rssi: nil), by: Self.here,
                    at: MonotonicInstant(nanoseconds: time * 1_000_000)
                ) { found in
                    joined += 1
                    if found.battery.millivolts != found.beacon.minor { wrong += 1 }
                }
                if sighting != nil { sightings += 1 }
            }
        }
        #expect(wrong == 0)
        #expect(sightings > 370_000 && decoder.malformed.total == 0)
        // The rule is not only strict. Of the 125,000 telemetry frames a quarter is followed by another one, which
        // replaces it. Most of the others are joined.
        #expect(joined > 80_000)
    }
}
