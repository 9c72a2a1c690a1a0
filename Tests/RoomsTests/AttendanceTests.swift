import Base
import Beacon
import Regions
import RoomsSupport
import SiteProtocol
import Testing

@testable import Rooms

/// Who is at home, alone.
@Suite struct AttendanceTests {
    private var attendance = Attendance(mostTags: 10)
    private var hearing = Hearing(bounds: RoomEngine.Bounds(), HearingTuning())
    private var tags = Tags(most: 10, HearingTuning())
    private let gateway: GatewayIndex
    private let tag = TagIndex(number: 0)
    private let beacon = BeaconID(uuid: BeaconUUID(high: 1, low: 2), major: 1, minor: 1)

    init() throws {
        let added = hearing.addGateway("kitchen")
        gateway = try #require(added)
        let pattern = BeaconPattern(uuid: beacon.uuid, major: 1, minor: 1)
        let moved = tags.replace(by: [TagDescription(id: "jane", name: "Jane", pattern: pattern)])
        attendance.replaceTags(by: tags.descriptions, moved: moved, at: seconds(1))
        let room = hearing.addRoom(.named("Kitchen"))
        _ = hearing.place(gateway, in: try #require(room), named: .named("Kitchen"), at: seconds(1))
    }

    private func seconds(_ seconds: Int) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: Int64(seconds) * 1_000_000_000)
    }

    private var reading: Reading { Reading(beacon: beacon, count: 1, level: -60, power: -59, age: .zero) }

    /// The message of the gateway about one second.
    private mutating func send(_ readings: [Reading], at second: Int, number: Int? = nil) -> [TagIndex] {
        let message = HeardSecond(
            startID: "a", sequence: Int64(number ?? second), at: .seconds(second), listening: .seconds(1), reports: 5,
            readings: readings)
        let (_, change) = attendance.record(message, of: gateway, &hearing, at: seconds(second))
        return change.arrived + readings.flatMap { attendance.hear($0, by: gateway, at: seconds(second)) }
    }

    /// The tags that left at an instant.
    private mutating func leave(at second: Int) -> [TagIndex] {
        _ = attendance.tick(at: seconds(second))
        return attendance.removeConfirmed(tags, hearing, at: seconds(second))
    }

    @Test mutating func `A tag that is heard comes home once`() {
        let first = send([reading], at: 10)
        let second = send([reading], at: 11)
        #expect(first == [tag] && second.isEmpty)
    }

    @Test mutating func `A tag of which a gateway that listens says nothing more is away`() {
        for second in 10..<40 { _ = send([reading], at: second) }
        var left: Int?
        for second in 40..<400 where left == nil {
            _ = send([], at: second)
            if !leave(at: second).isEmpty { left = second }
        }
        #expect(left != nil)
    }

    @Test mutating func `Without a message of the gateway no tag is away`() {
        for second in 10..<40 { _ = send([reading], at: second) }
        var left: [TagIndex] = []
        for second in 40..<400 {
            for change in attendance.endListening(&hearing, at: seconds(second)) { left += change.change.arrived }
            left += leave(at: second)
        }
        #expect(left.isEmpty)
    }

    @Test mutating func `Without a connection no departure is confirmed`() {
        for second in 10..<40 { _ = send([reading], at: second) }
        _ = attendance.setConnected(false, &hearing, at: seconds(40))
        var left: [TagIndex] = []
        for second in 40..<400 {
            _ = send([], at: second)
            left += leave(at: second)
        }
        #expect(left.isEmpty)
    }

    @Test mutating func `Whether the gateway listens is told when it changes`() {
        let first = attendance.setListening(gateway, true, &hearing, at: seconds(10))
        let second = attendance.setListening(gateway, true, &hearing, at: seconds(11))
        #expect(first.isListeningChanged && !second.isListeningChanged)
    }
}
