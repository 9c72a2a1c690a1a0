import Regions
import Shell
import Status
import Storage

/// The names that a shell offers where a command takes a region: of the running service, or else of the stored state.
enum CompletedNames {
    /// The word after `completion` that prints them, one on a line. The scripts call it.
    static let word = "names"
    /// What a scanner may be.
    static let scanners = ["auto", "mgmt", "hci", "bluez"]

    /// Prints nothing if there is no service and no readable state: nobody asked a question.
    static func list(_ arguments: Arguments) {
        guard let settings = try? Settings.load(arguments, isOptional: true) else { return }
        let listed = running(settings.stateDirectory) ?? stored(settings.stateDirectory)
        // A line break in a name would make two of it.
        let words = Set(listed.filter { !$0.isEmpty && Terminal.printable($0) == $0 })
        for word in words.sorted() { Terminal.print(word) }
    }

    private static func running(_ directory: String) -> [String]? {
        guard let status = try? StatusClient(stateDirectory: directory, within: .seconds(1)).status() else {
            return nil
        }
        return status.trackers.flatMap { $0.regions.flatMap { [$0.name, $0.rid] } }
    }

    private static func stored(_ directory: String) -> [String] {
        guard let regions = try? StoreReader.read(directory, { reader in try reader.regions() }) else { return [] }
        return regions.values.flatMap { $0.regions.flatMap { [$0.displayName, $0.rid] } }
    }
}
