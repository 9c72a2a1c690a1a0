internal import OwnTracks
internal import Regions

/// OwnTracks `.otrw` files.
enum WaypointsFile {
    /// Reads one. What is wrong with single elements is in the result, not an error.
    static func read(_ path: String, base: NumberBase) throws(Failure) -> WaypointsReading {
        let bytes = try FileAccess.read(path)
        do throws(JSONError) {
            let json = try JSONValue(parsing: bytes, dialect: .json5)
            do throws(WaypointsError) {
                return try WaypointsReading(json, base: base)
            } catch {
                throw Failure(.badData, "\(path) is no OwnTracks waypoints file: \(error)")
            }
        } catch let error as JSONError {
            throw Failure(.badData, "\(path) is not JSON: \(error)")
        } catch let failure as Failure {
            throw failure
        }
    }
}
