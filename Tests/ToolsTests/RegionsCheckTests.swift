import Shell
import TestSupport
import Testing

@testable import Tools

/// What `doctor` says of the regions.
@Suite struct RegionsCheckTests {
    private static let uuid = "CA271EAE-5FA8-4E80-8F08-2A302A95A959"
    private static let keys = "{_type: 'waypoint', tst: 1, rid: 'k', desc: 'Keys:\(uuid)'}"
    /// A circle whose name holds a UUID, and a waypoint that is neither.
    private static let others =
        "{_type: 'waypoint', tst: 2, rid: 'c', desc: 'Car:\(uuid):1:3', lat: 50, lon: 8, rad: 50}, "
        + "{_type: 'waypoint', tst: 3, rid: 'd', desc: 'Dog'}"

    private func findings(_ waypoints: String, hasSite: Bool = false) throws -> [DoctorFinding] {
        let directory = try TemporaryDirectory()
        try directory.write("{waypoints: [\(waypoints)], port: 0}", to: "config.json")
        let settings = try Settings(readingFrom: directory.file("config.json"), stateDirectory: directory.file("state"))
        return RegionsCheck.findings(settings, hasSite: hasSite)
    }

    @Test func `A gateway of a site needs no regions of its own, and any other does`() throws {
        let alone = try findings("")
        #expect(alone.count == 1 && alone.allSatisfy { !$0.isWell && $0.text.contains("there is no beacon region") })
        let ofSite = try findings("", hasSite: true)
        #expect(ofSite.count == 1 && ofSite.allSatisfy { $0.isWell && $0.text.contains("readings of the site's tags") })
    }

    @Test(arguments: [false, true])
    func `What no beacon enters is not counted as a beacon region, and is named`(hasSite: Bool) throws {
        let found = try findings("\(Self.keys), \(Self.others)", hasSite: hasSite)
        #expect(found.map(\.isWell) == [true, true, true])
        #expect(found.first?.text == "one beacon region")
        #expect(
            found.dropFirst().map { $0.text.prefix(27) } == [
                "'Car' is no beacon region: ", "'Dog' is no beacon region: ",
            ])
        #expect(try findings(Self.others).map(\.isWell) == [false, true, true])
        #expect(try findings(Self.others, hasSite: true).map(\.isWell) == [true, true, true])
    }
}
