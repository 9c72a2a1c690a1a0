import Base
package import JSON
import OwnTracks
package import Regions
package import SiteProtocol

extension SiteSettings {
    /// Reads the member `rooms` of a configuration: `{site, tags: [waypoints], gateways: {gateway: room}}`.
    ///
    /// - Throws: The first error, with its place.
    package init(configuration json: JSONValue) throws(FeedError) {
        guard let members = json.object else { throw FeedError("the configuration is no object") }
        if let latitude = members["lat"]?.asNumber, let longitude = members["lon"]?.asNumber {
            position = Position(
                coordinates: Coordinates(latitude: latitude, longitude: longitude),
                accuracy: Int(max(1, min(100_000, members["acc"]?.asNumber ?? 10))))
        }
        guard let rooms = members["rooms"] else { return }
        if case .null = rooms { return }
        guard rooms.object != nil else { throw FeedError("'rooms' is not an object") }
        if let value = rooms["site"] {
            guard let text = value.string, TopicIdentifier.isIdentifier(text) else {
                throw FeedError("'rooms.site' is not a text of the characters A-Z, a-z, 0-9, '_' and '-'")
            }
            site = text
        }
        if let list = rooms["tags"] {
            tags = try Self.tagChanges(list)
            try Self.check(tags)
        }
        if let list = rooms["gateways"] {
            guard let members = list.object else { throw FeedError("'rooms.gateways' is not an object") }
            for (gateway, room) in members.sorted(by: { $0.key < $1.key }) {
                guard let room = room.string, !room.isEmpty, room.utf8.count <= FeedDecoder.mostNameBytes else {
                    throw FeedError("'rooms.gateways.\(gateway.prefix(64))' is not the name of a room")
                }
                gateways[gateway] = room
            }
        }
    }

    /// Reads `rooms.tags`: waypoints, or bare descriptions such as `Jane:UUID:1:7`.
    package static func tagChanges(_ list: JSONValue) throws(FeedError) -> [RegionChange] {
        guard let elements = list.array else { throw FeedError("'rooms.tags' is not a list of waypoints") }
        let waypoints = elements.map { element in
            if case .string = element { JSONValue.object(["_type": "waypoint", "desc": element]) } else { element }
        }
        let reading: WaypointsReading
        do throws(WaypointsError) {
            reading = try WaypointsReading(.array(waypoints))
        } catch {
            throw FeedError("'rooms.tags': \(error)")
        }
        if let problem = reading.problems.first { throw FeedError("'rooms.tags': \(problem)") }
        return reading.changes
    }

    /// - Throws: The first tag that names no beacon.
    private static func check(_ changes: [RegionChange]) throws(FeedError) {
        for case .set(let region, _) in changes where TagIdentity(region) == nil {
            throw FeedError("'rooms.tags': \(region.displayName) names no beacon; write 'Name:UUID:major:minor'")
        }
    }
}
