import JSON
import OwnTracks
import Regions
import System

/// OwnTracks `.otrw` files.
enum WaypointsFile {
    /// Reads a file. Problems of single elements are part of the result; they are not thrown.
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
            throw Failure(.badData, "\(path) is not an OwnTracks waypoints file: \(error)")
        }
    }
}
