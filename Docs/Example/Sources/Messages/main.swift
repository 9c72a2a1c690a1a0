import Beacon
import OwnTracks
import Regions

let waypoints = """
    {"_type": "waypoints", "waypoints": [
      {"_type": "waypoint", "tst": 1708625557, "rid": "hall", "desc": "Hall:FDA50693-A4E2-4FB1-AFCF-C6EB07647825:1"},
      {"_type": "waypoint", "tst": 1708625558, "rid": "attic", "desc": "Attic:not a UUID"}]}
    """
let reading = try WaypointsReading(parsing: waypoints)
for problem in reading.problems { print(problem) }
var set = RegionSet()
set.apply(reading.changes)
let index = RegionIndex(set.regions.compactMap(\.description.pattern))

let topics = try Topics(template: "owntracks/%u/%d", user: "jane", device: "hall")
let position = Position(coordinates: Coordinates(latitude: 48.2, longitude: 16.37), accuracy: 10)
if let beacon = BeaconID("FDA50693-A4E2-4FB1-AFCF-C6EB07647825:1:2"), let match = index.mostExactMatch(of: beacon) {
    let transition = Transition(
        .enter, of: set.regions[match], trackerID: topics.trackerID, position: position, timestamp: 1_708_700_000,
        createdAt: 1_708_700_000)
    print(topics.event, transition.text)
}
