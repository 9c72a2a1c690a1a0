import Base
import Beacon
import JSON

extension StatusSnapshot.OwnBeacon {
    /// Milliseconds between two packets that are possible.
    private static let intervals: ClosedRange<Int64> = 1...3_600_000

    init?(reading json: JSONValue) {
        guard let beacon = json["beacon"]?.string.flatMap({ BeaconID($0) }) else { return nil }
        self.init(beacon)
        adapter = json["adapter"]?.string
        interval = json["interval"]?.whole(in: Self.intervals).map { .milliseconds($0) }
        burst = json["burst"]?.whole(in: 1...60).map { .seconds($0) }
        problem = json["problem"].flatMap { problem in
            problem["text"]?.string.map { .init(text: $0, remedy: problem["cure"]?.string ?? "") }
        }
    }
}
