import Base
import JSON
import OwnTracks
import Regions
import System

/// OwnTracks `.otrw` files.
enum WaypointsFile {
    /// Reads a file, or a link `owntracks:///…` in its place. Its regions may have keys of phones. Problems of single elements are
    /// part of the result; they are not thrown.
    static func read(
        _ path: String, base: NumberBase, acceptsKeys: Bool = false
    ) throws(Failure) -> WaypointsReading {
        let bytes = path.hasPrefix("owntracks:") ? Array(path.utf8) : try FileAccess.readNamed(path)
        let json = try mapError({ Failure(.badData, "\(path): \($0)") }) { () throws(WaypointsError) in
            try WaypointsEnvelope.list(in: bytes)
        }
        return try mapError({ Failure(.badData, "\(path) is not an OwnTracks waypoints file: \($0)") }) {
            () throws(WaypointsError) in
            try WaypointsReading(json, base: base, acceptsKeys: acceptsKeys)
        }
    }
}
