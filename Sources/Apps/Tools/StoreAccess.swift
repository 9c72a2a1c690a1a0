import Base
import Regions
import Storage
import System

extension StoreReader {
    /// Reads the state in a directory for a command.
    ///
    /// - Returns: nil if there is no state yet.
    /// - Throws: `Failure` if the state cannot be read.
    static func read<Value>(
        _ directory: String, _ body: (borrowing StoreReader) throws -> Value
    ) throws(Failure) -> Value? {
        do {
            return try body(try StoreReader(directory: directory))
        } catch StoreError.absent {
            return nil
        } catch {
            throw error as? Failure ?? failure(error, directory)
        }
    }

    /// SQLite does not say why it cannot open a file.
    private static func failure(_ error: any Error, _ directory: String) -> Failure {
        guard let unreadable = FileAccess.unreadable([directory, StoreSettings.path(in: directory)]) else {
            return Failure(.inputOutput, "\(error)")
        }
        return Failure(.noPermission, "\(unreadable.message); only root and the service's user can read the state")
    }
}

extension StoreEditor {
    /// Leaves edits for the service in a directory, which is created if it does not exist.
    ///
    /// - Throws: `Failure` if they cannot be stored.
    static func edit(
        _ directory: String, of tracker: String, _ changes: [RegionChange], erasingHistoryOf erased: String? = nil
    ) throws(Failure) {
        try FileAccess.createDirectory(directory)
        try mapError({ Failure(.inputOutput, "\($0)") }) {
            try StoreEditor(directory: directory).edit(tracker, changes, erasingHistoryOf: erased)
        }
    }

    /// Leaves an edit that depends on the regions, which no other command changes in between.
    ///
    /// - Throws: `Failure` if it cannot be stored, or if the service would refuse it because of the limit.
    static func edit(
        _ directory: String, of tracker: String, within limit: RegionLimit?,
        deciding decide: (RegionSet) -> [RegionChange]
    ) throws(Failure) {
        try FileAccess.createDirectory(directory)
        let excess = try mapError({ Failure(.inputOutput, "\($0)") }) {
            try StoreEditor(directory: directory).edit(tracker, within: limit, deciding: decide)
        }
        guard let excess, let limit else { return }
        let text = "nothing was changed: this would make \(excess) regions; at most \(limit.most) are allowed"
        throw Failure(.badData, limit.trackers.count > 1 ? "\(text), of all trackers together" : text)
    }
}
