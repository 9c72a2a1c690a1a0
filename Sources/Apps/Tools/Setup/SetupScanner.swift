import Base
import JSON
import System

/// The answer to `--scanner`: how the gateway listens.
enum SetupScanner: Equatable {
    /// The best way that there is, which is the default.
    case auto
    case way(String)
    /// A recording instead of a radio.
    case capture(String)

    private static let ways = ["mgmt", "hci", "bluez"]

    /// - Parameter text: The argument of the option; nil: it is missing.
    init(_ text: String?) {
        switch text {
        case nil, "auto"?: self = .auto
        case let way? where Self.ways.contains(way): self = .way(way)
        case let file?: self = .capture(file)
        }
    }

    /// - Throws: `Failure` for a word that is no way and not the path of a recording either: it may be a misspelt way, and with it the
    ///   service would hear nothing.
    func check() throws(Failure) {
        // A recording may be made later, so it need not exist.
        guard case .capture(let word) = self, !word.unicodeScalars.contains(where: { ["/", "."].contains($0) }),
            !FileAccess.exists(word)
        else { return }
        let known = ["auto"] + Self.ways
        throw Failure(
            .usage,
            "--scanner '\(word)' is neither a way to listen nor a recording; write \(known.joined(separator: ", ")), or the path of a "
                + "recording\(hint(for: word, among: known))")
    }

    /// The member of the configuration; nil for the default.
    ///
    /// - Parameter absolute: Makes a path absolute.
    func member(_ absolute: (String) -> String) -> JSONValue? {
        switch self {
        case .auto: nil
        case .way(let way): .string(way)
        case .capture(let file): ["capture": .string(absolute(file))]
        }
    }
}
