import Beacon
import Identities
import Scanning
import Testing

@testable import KernelScanning

@Suite struct PatternRoomTests {
    /// - Returns: The numbers that were asked for, until the answers end.
    private func asked(of wanted: Int, room: Int) -> [Int] {
        var state = PatternRoom()
        var asked: [Int] = []
        while asked.count < 50 {
            let count = state.next(of: wanted)
            asked.append(count)
            guard count <= room ? state.accept(count) : state.refuse(count) else { break }
        }
        #expect(state.next(of: wanted) == min(wanted, room), "it stays so")
        return asked
    }

    @Test(arguments: [
        (1, [23, 1, 12, 6, 3, 2, 1]), (3, [23, 1, 12, 6, 3, 4, 3]), (5, [23, 1, 12, 6, 3, 4, 5]),
        (16, [23, 1, 12, 17, 14, 15, 16]), (23, [23]), (100, [23]),
    ])
    func `The largest number that a controller has room for is found`(room: Int, numbers: [Int]) {
        let found = asked(of: 23, room: room)
        #expect(found.last == min(room, 23))
        #expect(found == numbers, "\(found)")
    }

    @Test func `One pattern that is refused has another reason than room`() {
        var state = PatternRoom()
        let first = state.refuse(23)
        #expect(first && state.next(of: 23) == 1)
        let second = state.refuse(1)
        #expect(!second)
    }

    @Test func `What was accepted once and is refused later is sought anew`() {
        var state = PatternRoom()
        _ = state.refuse(8)
        _ = state.accept(1)
        _ = state.accept(4)
        let isSought = state.refuse(4)
        #expect(isSought && state.next(of: 8) == 1)
        let hasMore = state.accept(1)
        #expect(hasMore)
    }

    /// What a controller with this room hears.
    @Test(
        arguments: [
            (1, [.iBeacons], [.identities, .telemetry]), (3, [.iBeacons, .identities], [.identities, .telemetry]),
            (5, [.iBeacons, .identities], [.identities, .telemetry]),
            (16, [.iBeacons, .identities, .telemetry], [.telemetry]),
        ] as [(Int, [BeaconPacketPattern.Kind], [BeaconPacketPattern.Kind])])
    func `iBeacons come first, then what regions name, then telemetry`(
        room: Int, heard: [BeaconPacketPattern.Kind], unheard: [BeaconPacketPattern.Kind]
    ) throws {
        var resolver = IdentityResolver()
        resolver.setIdentities([.address(0xc0ff_ee00_0001), .altBeacon(BeaconUUID(high: 1, low: 2))])
        let wanted = BeaconPacketPattern.inOrder(identities: resolver.patterns)
        #expect(Set(wanted).count == wanted.count)
        #expect(BeaconPacketPattern.kinds(of: wanted.prefix(room)) == heard)
        #expect(BeaconPacketPattern.kinds(of: wanted.dropFirst(room)) == unheard)
    }

    @Test func `The pattern of an Eddystone-UID that a region names does not give way with telemetry`() {
        var resolver = IdentityResolver()
        resolver.setIdentities([.eddystone(BeaconUUID(high: 1, low: 2))])
        let wanted = BeaconPacketPattern.inOrder(identities: resolver.patterns)
        #expect(wanted.prefix(2) == [.iBeacon, .eddystone])
        #expect(wanted.count == 1 + BeaconPacketPattern.telemetry.count)
        #expect(BeaconPacketPattern.inOrder(identities: []) == [.iBeacon] + BeaconPacketPattern.telemetry)
    }
}
