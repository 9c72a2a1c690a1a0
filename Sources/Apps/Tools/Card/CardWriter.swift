import Base
import Glibc
import System

/// Writes the files of cards into folders that only their owner may enter.
struct CardWriter {
    /// Whether the files of an earlier card are replaced.
    let replaces: Bool

    /// The folder that holds one card, or the folders of several.
    ///
    /// - Parameter isCard: A boot partition is admitted, too, which has files of its own and no owners.
    func prepare(_ folder: String, isCard: Bool) throws(Failure) {
        if mkdir(folder, 0o700) == 0 {
            // A umask cannot widen it, but may narrow it.
            chmod(folder, 0o700)
            return
        }
        guard errno == EEXIST else {
            throw Failure(.cannotCreate, "cannot make the folder \(folder): \(FileAccess.lastError)")
        }
        if isCard, Self.isBootPartition(folder) { return }
        var status = stat()
        guard stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw Failure(.cannotCreate, "\(folder) is not a folder")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw Failure(
                .cannotCreate,
                "others may look into \(folder), which would hold secrets; chmod 700 it, or name a new one")
        }
        guard !isCard || replaces || FileAccess.isMissing("\(folder)/user-data") else {
            throw Failure(.cannotCreate, "\(folder) has the files of a card already; --force replaces them")
        }
    }

    func write(_ card: BootCard, to folder: String) throws(Failure) {
        try prepare(folder, isCard: true)
        for (name, text) in card.contents {
            do throws(FileError) {
                try AtomicFile.replace(
                    "\(folder)/\(name)", by: Array(text.revealed.utf8), AtomicFile.Attributes(mode: 0o600))
            } catch {
                throw Failure(error)
            }
        }
        // That of an earlier card would be another network.
        if card.wiFi == nil, !Self.isBootPartition(folder) { unlink("\(folder)/network-config") }
    }

    /// Whether a folder is the boot partition of Raspberry Pi OS.
    static func isBootPartition(_ folder: String) -> Bool { FileAccess.exists("\(folder)/cmdline.txt") }

    /// Asks cloud-init for its opinion where it is installed.
    static func check(_ folder: String) throws(Failure) {
        guard access("/usr/bin/cloud-init", X_OK) == 0 else { return }
        let words = ["cloud-init", "schema", "--config-file", "\(folder)/user-data"]
        guard OtherProgram.run(words, isCaptured: true) != nil else {
            throw Failure(.software, "cloud-init does not accept the file; see: \(words.joined(separator: " "))")
        }
    }

    /// What a person must know of the files: which secrets they hold, and until when.
    ///
    /// - Parameter isOnCard: Whether they are on the card already, and in no folder besides.
    static func remark(on cards: [BootCard], isOnCard: Bool = false) -> String {
        let secrets = BootCard.HeldSecret.allCases.filter { secret in cards.contains { $0.secrets.contains(secret) } }
        let names = secrets.map(\.rawValue).joined(separator: ", ")
        return (secrets.isEmpty ? "They hold the configuration" : "They hold secrets (\(names))")
            + " until the first boot has moved \(secrets.isEmpty ? "it" : "them") off the card."
            + (isOnCard ? "" : " Delete the folder when the machine runs.")
    }
}
