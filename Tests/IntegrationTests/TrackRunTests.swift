import TestSupport
import Testing

/// `history --gpx` of a service that has run.
@Suite struct TrackRunTests {
    private static let reader = """
        import sys, xml.etree.ElementTree as tree
        name = "{http://www.topografix.com/GPX/1/1}"
        root = tree.parse(sys.argv[1]).getroot()
        assert root.tag == name + "gpx" and root.get("version") == "1.1", root.tag
        for track in root.findall(name + "trk"):
            for point in track.iter(name + "trkpt"):
                print(track.find(name + "name").text, point.get("lat"), point.get("lon"), point.find(name + "time").text[:2])
        """

    @Test func `The locations of a run come out as a GPX file that others read (iOS page)`() throws {
        let house = try GatewayFixture(
            "lat: 52.25, lon: 6.5, waypoints: [\(GatewayFixture.waypoint("k", "Kitchen"))], \(GatewayFixture.demo)")
        #expect(eventually { house.published().count >= 2 }, "\(house.gateway.log)")
        #expect(house.gateway.stop() == 0)
        let file = try house.gateway.directory.write(try house.gateway.ask("history", "--gpx"), to: "track.gpx")
        let points = try run("python3", ["-c", Self.reader, file]).split(separator: "\n")
        // After the enter, and after the leave.
        #expect(points == Array(repeating: "owntracks/jane/hall 52.250000 6.500000 20", count: 2), "\(points)")
        let later = try house.gateway.ask("history", "--gpx", "--since", "2100-01-01")
        #expect(!later.contains("<trkpt"))
    }
}
