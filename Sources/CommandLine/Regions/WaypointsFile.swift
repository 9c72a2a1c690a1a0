import JSON
import OwnTracks
import Regions
import System

/// OwnTracks `.otrw` files.
enum WaypointsFile {
    /// Reads one. What is wrong with single elements is in the result, not an error.
    static func read(_ path: String, base: NumberBase) throws(Failure) -> WaypointsReading {
        let bytes = try FileAccess.readNamed(path)
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONValue(parsing: bytes, dialect: .json5)
        } catch {
            throw Failure(.badData, "\(path) is not JSON: \(error)")
        }
        do throws(WaypointsError) {
            return try WaypointsReading(json, base: base)
        } catch {
            throw Failure(.badData, "\(path) is no OwnTracks waypoints file: \(error)")
        }
    }
}
