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
            throw error as? Failure ?? Failure(.inputOutput, "\(error)")
        }
    }
}
