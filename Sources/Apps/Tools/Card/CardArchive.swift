import Base
import System

/// The signed archive from which a card installs the package.
struct CardArchive: Equatable {
    /// Where the archive of the program is published; nil: nowhere yet.
    // Scripts/addresses renew writes this line, from release.conf.
    static let published: String? = nil
    /// The release of Debian whose Raspberry Pi OS reads a card: the first with cloud-init.
    static let release = "trixie"

    let url: String
    /// The lines of the armoured public key.
    let key: [String]

    /// One that is shown and never used.
    init(shown url: String, key: [String]) { (self.url, self.key) = (url, key) }

    /// - Parameters:
    ///   - url: Such as `https://example.org/debian`.
    ///   - key: The content of a file with the armoured key: the key alone, or a `.sources` file that holds it.
    init(url: String, key file: [UInt8]) throws(Failure) {
        let isPlain = url.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard isPlain, url.hasPrefix("https://") || url.hasPrefix("http://"), !url.utf8.contains(UInt8(ascii: "@"))
        else {
            throw Failure(.usage, "--archive takes an address such as https://example.org/debian, without a login")
        }
        self.url = url
        let lines = String(decoding: file, as: UTF8.self).split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline
        )
        .map { String($0.trimmed) }
        guard let first = lines.firstIndex(of: "-----BEGIN PGP PUBLIC KEY BLOCK-----"),
            let last = lines[first...].firstIndex(of: "-----END PGP PUBLIC KEY BLOCK-----"),
            lines[first...last].joined().utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else {
            throw Failure(
                .badData,
                "the file of --archive-key has no armoured public key; gpg --armor --export KEY prints one, and "
                    + "ARCHIVE/\(Self.release).sources holds one")
        }
        key = lines[first...last].map { $0 == "." ? "" : $0 }
    }

    /// The file for `/etc/apt/sources.list.d`, in the form of sources.list(5).
    var sources: String {
        let head = ["Types: deb", "URIs: \(url)", "Suites: \(Self.release)", "Components: main", "Signed-By:"]
        return (head + key.map { $0.isEmpty ? " ." : " \($0)" }).map { $0 + "\n" }.joined()
    }
}
