import Base
package import Gateway
package import JSON

extension StatusSnapshot {
    /// The database on disk.
    package struct StoreState: Hashable, Sendable {
        /// Why nothing can be written; nil if all is well.
        package var problem: String?
        /// Transactions written since the start.
        package var writes: UInt64 = 0

        package init(problem: String? = nil, writes: UInt64 = 0) {
            self.problem = problem
            self.writes = writes
        }
    }

    /// Data that exceeded a limit.
    package struct OverflowState: Hashable, Sendable {
        /// iBeacon frames of beacons that belong to a region and were not remembered.
        package var sightings: UInt64 = 0
        /// Messages from the broker that were too large or too many at once, since the settings of the connection
        /// changed.
        package var incoming: UInt64 = 0
        /// The region whose beacons were turned away recently.
        package var crowded: CrowdedRegion?

        package init(sightings: UInt64 = 0, incoming: UInt64 = 0, crowded: CrowdedRegion? = nil) {
            self.sightings = sightings
            self.incoming = incoming
            self.crowded = crowded
        }
    }

    /// The resources that the process uses.
    package struct ProcessState: Hashable, Sendable {
        /// User and kernel time, since the start.
        package var processorTime: Duration
        package var residentBytes: UInt64
        package var openDescriptors: Int
        /// From the start of the process until the service was ready.
        package var startTime: Duration?

        package init(processorTime: Duration, residentBytes: UInt64, openDescriptors: Int) {
            self.processorTime = processorTime
            self.residentBytes = residentBytes
            self.openDescriptors = openDescriptors
        }
    }
}

extension StatusSnapshot.ProcessState {
    package var json: JSONValue {
        [
            "processorSeconds": .hundredths(processorTime.inSeconds), "residentBytes": .count(residentBytes),
            "openDescriptors": .integer(Int64(openDescriptors)),
            "startSeconds": .optional(startTime.map { .hundredths($0.inSeconds) }),
        ]
    }
}
