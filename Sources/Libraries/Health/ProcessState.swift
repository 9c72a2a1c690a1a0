import Base
package import JSON

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

extension ProcessState {
    package var json: JSONValue {
        [
            "processorSeconds": .hundredths(processorTime.inSeconds), "residentBytes": .count(residentBytes),
            "openDescriptors": .integer(Int64(openDescriptors)),
            "startSeconds": .optional(startTime.map { .hundredths($0.inSeconds) }),
        ]
    }
}
