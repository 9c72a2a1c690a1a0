import Base
import OwnTracks
import Regions
import System

/// The question where the gateway is, for maps and for zones.
struct PlaceQuestion {
    let arguments: Arguments
    let dialogue: Dialogue

    /// - Parameter known: The centre of a home that was imported.
    /// - Returns: nil if the place is to stay unknown.
    func answer(known: Coordinates?) throws(Failure) -> Coordinates? {
        let given = [arguments.value("lat"), arguments.value("lon")].compactMap(\.self)
        guard given.isEmpty else {
            guard let place = Self.coordinates(given.joined(separator: ",")) else {
                throw Failure(
                    .usage, "--lat and --lon are given together, in degrees, such as --lat 48.858 --lon 2.294")
            }
            return place
        }
        let standard = known.map { "\($0.latitude), \($0.longitude)" } ?? ""
        while true {
            let text = try dialogue.ask("Where is it, as latitude, longitude (empty: not on a map)", standard)
            guard !text.isEmpty else { return nil }
            if let place = Self.coordinates(text) { return place }
            dialogue.show("Write two numbers in degrees, such as 48.858, 2.294; or nothing.")
        }
    }

    /// Reads `48.858, 2.294`; nil for anything else, and outside the ranges of latitude and longitude.
    static func coordinates(_ text: String) -> Coordinates? {
        let parts = text.split { $0 == "," || $0 == " " }.map { Double($0) }
        guard parts.count == 2, let latitude = parts[0], let longitude = parts[1],
            (-90...90).contains(latitude), (-180...180).contains(longitude)
        else { return nil }
        return Coordinates(latitude: latitude, longitude: longitude)
    }
}
