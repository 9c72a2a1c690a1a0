import Base
import OwnTracks
import Regions
import System

/// The question where the gateway is, for maps and for zones.
struct PlaceQuestion {
    let arguments: Arguments
    let dialogue: Dialogue

    private static let latitudes: ClosedRange<Double> = -90...90
    private static let longitudes: ClosedRange<Double> = -180...180

    /// - Parameter known: The centre of a home that was imported.
    /// - Returns: nil if the place is to stay unknown.
    func answer(known: Coordinates?) throws(Failure) -> Coordinates? {
        if let given = try given() { return given }
        let standard = known.map { "\($0.latitude), \($0.longitude)" } ?? ""
        while true {
            let text = try dialogue.ask("Where is it, as latitude, longitude (empty: not on a map)", standard)
            guard !text.isEmpty else { return nil }
            if let place = Self.coordinates(text) { return place }
            dialogue.show(Self.advice(for: text))
        }
    }

    /// The place of `--lat` and `--lon`; nil if both are missing.
    private func given() throws(Failure) -> Coordinates? {
        let latitude = try degrees("lat", Self.latitudes, such: "48.858")
        let longitude = try degrees("lon", Self.longitudes, such: "2.294")
        switch (latitude, longitude) {
        case (nil, nil): return nil
        case (let latitude?, let longitude?): return Coordinates(latitude: latitude, longitude: longitude)
        default:
            throw Failure(
                .usage, "--lat and --lon are given together, in degrees, such as --lat 48.858 --lon 2.294")
        }
    }

    /// The number of one option; nil if the option is missing.
    private func degrees(
        _ option: String, _ range: ClosedRange<Double>, such example: String
    ) throws(Failure) -> Double? {
        guard let text = arguments.value(option) else { return nil }
        guard let number = Double(text), range.contains(number) else {
            let limits = "\(Int(range.lowerBound)) to \(Int(range.upperBound))"
            let sign = text.unicodeScalars.contains(",") ? ", with a point and no comma" : ""
            throw Failure(
                .usage, "--\(option) '\(text)' does not fit; write degrees from \(limits)\(sign), such as \(example)")
        }
        return number
    }

    /// Reads `48.858, 2.294`; nil for anything else, and outside the ranges of latitude and longitude.
    ///
    /// `48,2` is one number to many people, so two numbers without points are two only with a blank between them.
    static func coordinates(_ text: String) -> Coordinates? {
        guard !isAmbiguous(text) else { return nil }
        let parts = text.split { $0 == "," || $0 == " " }.map { Double($0) }
        guard parts.count == 2, let latitude = parts[0], let longitude = parts[1],
            latitudes.contains(latitude), longitudes.contains(longitude)
        else { return nil }
        return Coordinates(latitude: latitude, longitude: longitude)
    }

    private static func isAmbiguous(_ text: String) -> Bool {
        let scalars = text.unicodeScalars
        return scalars.contains(",") && !scalars.contains(".") && !scalars.contains(" ")
    }

    /// What to write in place of an answer that is no place.
    static func advice(for text: String) -> String {
        if isAmbiguous(text) {
            return
                "'\(Terminal.printable(text))' may be one number or two. Write two numbers in degrees, with points and with a comma "
                + "between them, such as 48.2, 16.37; or nothing."
        }
        return "Write two numbers in degrees, such as 48.858, 2.294; or nothing."
    }
}
