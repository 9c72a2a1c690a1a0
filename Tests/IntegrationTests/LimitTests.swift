import Glibc
import TestSupport
import Testing

/// What one message may cost a gateway that is at work. An unoptimised build is held to a wide limit only;
/// `IBEACON_GATEWAY_PROGRAM` names a release build, which is held to the real one.
@Suite(.serialized) struct LimitTests {
    private static let many = 10_000

    /// Distinct beacons, as a large site has them.
    private static func elements(_ count: Int) -> [String] {
        (0..<count).map { GatewayFixture.waypoint("rid\($0)", "Region \($0)", suffix: ":\($0 + 2)") }
    }

    /// Takes the best of three, as a busy machine makes a turn longer and never shorter.
    ///
    /// - Parameters:
    ///   - limit: Milliseconds, for an idle machine.
    ///   - run: Returns the milliseconds of the longest turn.
    private static func holds(_ limit: Int, _ run: () throws -> Int) throws -> Bool {
        for _ in 1...3 {
            let slowdown = try MachineSlowdown()
            if try run() < slowdown.scaled(limit) { return true }
        }
        return false
    }

    @Test func `10,000 regions come in one command, and the radio is served meanwhile`() throws {
        let limit = GatewayProcess.measured == nil ? 3000 : 100
        #expect(try Self.holds(limit, Self.longestTurnWithManyRegions))
    }

    /// - Returns: milliseconds.
    private static func longestTurnWithManyRegions() throws -> Int {
        let house = try GatewayFixture(
            "waypoints: [\(GatewayFixture.waypoint("k", "Kitchen"))], \(GatewayFixture.stay)")
        #expect(house.gateway.says("entered Kitchen"), "\(house.gateway.log)")
        let before = house.gateway.residentKiB
        try house.setWaypoints(elements(many))
        let merging = ContinuousClock().measure {
            #expect(house.gateway.says("regions: 10000 new, 0 changed, 0 removed; 10001 regions now"))
        }
        if GatewayProcess.measured != nil { #expect(merging < .seconds(1)) }
        // Their states are told in the seconds after that.
        #expect(
            eventually(within: .seconds(180)) { !house.published(on: "ibeacon-gateway/hall/region/rid9999").isEmpty })
        let states = {
            Set(house.witness.lines.map(\.topic).filter { $0.hasPrefix("ibeacon-gateway/hall/region/rid") }).count
        }
        #expect(eventually(within: .seconds(180)) { states() == many })
        let after = house.gateway.residentKiB
        // Unoptimised, the same work leaves up to 21 MiB of heap behind; as shipped, 14.
        #expect(after - before < (GatewayProcess.measured == nil ? 24 : 20) << 10)
        let regions = try house.regions()
        #expect(regions.count == many + 1)
        #expect(regions.last == "rid9999=Region 9999")
        let turn = try house.gateway.stopAndReadLongestTurn()
        print("10,000 regions: merged in \(merging), \((after - before) / 1024) MiB more, longest turn \(turn) ms")
        return turn
    }

    enum TooMuch: String, CaseIterable {
        case bytes = "bytes are too many"
        case nesting = "nested too deep"
        case values = "too many values"

        var element: String {
            switch self {
            case .bytes: #"{"_type":"waypoint","tst":1,"desc":"\#(String(repeating: "x", count: 8 << 20))"}"#
            case .nesting: String(repeating: "[", count: 65) + String(repeating: "]", count: 65)
            case .values: String(repeating: "{},", count: 199_999) + "{}"
            }
        }
    }

    @Test(arguments: TooMuch.allCases)
    func `Input that is too large is refused with the reason, changes nothing, and delays nothing`(
        much: TooMuch
    ) throws {
        #expect(try Self.holds(100) { try Self.longestTurn(refusing: much) })
    }

    /// - Returns: milliseconds.
    private static func longestTurn(refusing much: TooMuch) throws -> Int {
        let house = try GatewayFixture(
            "waypoints: [\(GatewayFixture.waypoint("k", "Kitchen"))], \(GatewayFixture.stay)")
        #expect(house.gateway.says("entered Kitchen"), "\(house.gateway.log)")
        try house.setWaypoints([GatewayFixture.waypoint("n", "Neighbour"), much.element])
        #expect(house.gateway.says(much.rawValue), "\(house.gateway.log)")
        #expect(try house.regions() == ["k=Kitchen"])
        #expect(try house.counter("commandsRefused") == 1)
        let turn = try house.gateway.stopAndReadLongestTurn()
        print("\(much.rawValue): longest turn of the loop \(turn) ms")
        return turn
    }

    @Test func `A name of 100 kB is refused, and its neighbours are taken`() throws {
        let house = try GatewayFixture()
        let name = String(repeating: "n", count: 100_000)
        try house.setWaypoints([
            GatewayFixture.waypoint("a", "a"), GatewayFixture.waypoint("b", name), GatewayFixture.waypoint("c", "c"),
        ])
        #expect(house.gateway.says("waypoint 1"), "\(house.gateway.log)")
        #expect(try house.regions() == ["a=a", "c=c"])
        let longest = house.gateway.log.split(separator: "\n").map(\.utf8.count).max() ?? 0
        #expect(longest < 1000)
    }
}
