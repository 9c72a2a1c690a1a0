import OwnTracks
import Testing

/// What subscribers get by the filters of the documents (MQTT 3.1.1, 4.7).
@Suite struct TopicFilterTests {
    private static func matches(_ filter: String, _ topic: String) -> Bool {
        let filters = filter.split(separator: "/", omittingEmptySubsequences: false)
        let levels = topic.split(separator: "/", omittingEmptySubsequences: false)
        if filters.last == "#" { return levels.starts(with: filters.dropLast()) { $1 == "+" || $0 == $1 } }
        return filters.count == levels.count && zip(filters, levels).allSatisfy { $0 == "+" || $0 == $1 }
    }

    @Test("A subscription to owntracks/+/+ gets no regions, and one to owntracks/# gets all (Regions page)")
    func filters() throws {
        let topics = try Topics(template: "owntracks/%u/%d", user: "jane", device: "hall")
        let all = [topics.base, topics.event, topics.waypoint, topics.waypoints]
        #expect(all.filter { Self.matches("owntracks/+/+", $0) } == [topics.base])
        #expect(all.filter { Self.matches("owntracks/#", $0) } == all)
        #expect(all.filter { Self.matches("owntracks/+/+/waypoint", $0) } == [topics.waypoint])
    }
}
