import Regions

/// The tracks as a GPX 1.1 document (topografix.com/GPX/1/1). Members of a point have the order of the schema.
///
/// - Parameter creator: The program's name and version.
package func gpx(_ tracks: [Track], creator: String) -> String {
    var lines = [
        #"<?xml version="1.0" encoding="UTF-8"?>"#,
        #"<gpx version="1.1" creator="\#(escaped(creator))" xmlns="http://www.topografix.com/GPX/1/1">"#,
    ]
    for track in tracks {
        lines += ["  <trk>", "    <name>\(escaped(track.name))</name>", "    <trkseg>"]
        for point in track.points {
            let latitude = decimal(point.coordinates.latitude)
            let longitude = decimal(point.coordinates.longitude)
            lines.append(
                "      <trkpt lat=\"\(latitude)\" lon=\"\(longitude)\"><time>\(escaped(point.time))</time>"
                    + "<type>\(escaped(point.trigger))</type></trkpt>")
        }
        lines += ["    </trkseg>", "  </trk>"]
    }
    return (lines + ["</gpx>"]).joined(separator: "\n")
}

/// Degrees with six decimals. XML's decimal numbers have no exponent, which Swift writes for small ones.
private func decimal(_ degrees: Double) -> String {
    let millionths = Int64((degrees * 1_000_000).rounded())
    let fraction = String(millionths.magnitude % 1_000_000)
    let zeros = String(repeating: "0", count: 6 - fraction.utf8.count)
    return "\(millionths < 0 ? "-" : "")\(millionths.magnitude / 1_000_000).\(zeros)\(fraction)"
}

/// Text escaped for XML, between tags and in quotes. Control characters, which XML does not allow, are removed.
private func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "&": result += "&amp;"
        case "<": result += "&lt;"
        case ">": result += "&gt;"
        case "\"": result += "&quot;"
        case "\0"..."\u{8}", "\u{B}", "\u{C}", "\u{E}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": continue
        default: result.unicodeScalars.append(scalar)
        }
    }
    return result
}
