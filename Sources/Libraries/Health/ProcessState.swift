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

extension ProcessState {
    /// Reads what `json` wrote; nil for what it did not write.
    package init?(reading json: JSONValue) {
        guard let time = json["processorSeconds"]?.asSeconds, let bytes = json["residentBytes"]?.asCount else {
            return nil
        }
        self.init(
            processorTime: time, residentBytes: bytes,
            openDescriptors: Int(clamping: json["openDescriptors"]?.asCount ?? 0))
        startTime = json["startSeconds"]?.asSeconds
    }
}
