import OwnTracks
import Regions
import Testing

/// Export as GPX (iOS page).
@Suite struct TrackExportTests {
    private func point(_ latitude: Double, _ longitude: Double, _ time: String = "2026-01-31T12:00:00Z") -> Track.Point
    {
        Track.Point(coordinates: Coordinates(latitude: latitude, longitude: longitude), time: time, trigger: "p")
    }

    @Test func `Stored locations are exported in GPX format (iOS page)`() {
        let tracks = [
            Track(name: "owntracks/jane/hall", points: [point(48.87069, 2.34916), point(0, -0.000001)]),
            Track(name: "owntracks/jane/keys", points: []),
        ]
        #expect(
            gpx(tracks, creator: "ibeacon-gateway 1") == """
                <?xml version="1.0" encoding="UTF-8"?>
                <gpx version="1.1" creator="ibeacon-gateway 1" xmlns="http://www.topografix.com/GPX/1/1">
                  <trk>
                    <name>owntracks/jane/hall</name>
                    <trkseg>
                      <trkpt lat="48.870690" lon="2.349160"><time>2026-01-31T12:00:00Z</time><type>p</type></trkpt>
                      <trkpt lat="0.000000" lon="-0.000001"><time>2026-01-31T12:00:00Z</time><type>p</type></trkpt>
                    </trkseg>
                  </trk>
                  <trk>
                    <name>owntracks/jane/keys</name>
                    <trkseg>
                    </trkseg>
                  </trk>
                </gpx>
                """)
    }

    @Test func `A topic with characters that mean something to XML is escaped`() {
        let text = gpx([Track(name: "a/<b>&\"c\"\u{1}/d", points: [])], creator: "x")
        #expect(text.contains("<name>a/&lt;b&gt;&amp;&quot;c&quot;/d</name>"))
    }
}
