import JSON
import OwnTracks
import Regions

/// The UUID of the examples in OwnTracks' documents.
let sampleUUID = "CA271EAE-5FA8-4E80-8F08-2A302A95A959"

/// A waypoint with what every waypoint has, and `more` over it.
func waypoint(_ more: [String: JSONValue] = [:]) -> JSONValue {
    let members: [String: JSONValue] = [
        "_type": "waypoint", "desc": "Kitchen", "tst": 1_700_000_000, "rid": "r1", "lat": 0, "lon": 0, "rad": 0,
    ]
    return .object(members.merging(more) { $1 })
}

/// A region as a list with this one waypoint gives it.
func region(_ more: [String: JSONValue] = [:]) throws -> Region {
    let reading = try WaypointsReading([waypoint(more)])
    guard case .set(let region, _)? = reading.changes.first else {
        throw WaypointsReadingFailed(problems: reading.problems)
    }
    return region
}

struct WaypointsReadingFailed: Error {
    let problems: [WaypointProblem]
}

/// A position that is somewhere.
let samplePosition = Position(coordinates: Coordinates(latitude: 52, longitude: 6), accuracy: 10)
