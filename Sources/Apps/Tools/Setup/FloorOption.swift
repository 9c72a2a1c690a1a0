import Base
import System

/// On which floor the room of the gateway is.
///
/// It is no question: few sites gain by it, and those with a training walk most (`Docs/rooms-floors.md`).
enum FloorOption {
    /// - Returns: one of `roomFloors`; nil if the option is missing.
    static func value(of arguments: Arguments) throws(Failure) -> Int64? {
        guard let word = arguments.value("floor") else { return nil }
        guard let floor = Int64(word), roomFloors.contains(floor) else {
            throw Failure(
                .usage,
                "--floor is a whole number from \(roomFloors.lowerBound) to \(roomFloors.upperBound), such as 0 for the ground floor; not '\(word)'"
            )
        }
        return floor
    }
}
