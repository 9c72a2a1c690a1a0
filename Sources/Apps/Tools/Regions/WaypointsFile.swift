import Base
import JSON
import OwnTracks
import Regions
import System

/// OwnTracks `.otrw` files.
enum WaypointsFile {
    /// Reads a file. Its regions may have keys of phones. Problems of single elements are part of the result; they are not thrown.
    static func read(
        _ path: String, base: NumberBase, acceptsKeys: Bool = false
    ) throws(Failure) -> WaypointsReading {
        let bytes = try FileAccess.readNamed(path)
        let json = try mapError({ Failure(.badData, "\(path) is not JSON: \($0)") }) { () throws(JSONError) in
            try JSONValue(parsing: bytes, dialect: .json5)
        }
        return try mapError({ Failure(.badData, "\(path) is not an OwnTracks waypoints file: \($0)") }) {
            () throws(WaypointsError) in
            try WaypointsReading(json, base: base, acceptsKeys: acceptsKeys)
        }
    }
}
