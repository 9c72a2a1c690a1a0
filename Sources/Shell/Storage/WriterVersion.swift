/// The version of the program that last opened the file for writing. It stands in the file so that a program that is too
/// old for it can name the one that fits.
///
/// The table of small values has had the same columns since the first schema. A later schema must keep it and this row.
enum WriterVersion {
    private static let key = "store.program"

    /// nil if no program has written its version, or not where this program looks for it.
    static func read(_ database: borrowing Database) -> String? {
        guard let row = try? database.rows(SettingRow.self, "WHERE key = ?1", .text(key)).first else { return nil }
        // The text is printed, and the file may be anyone's.
        let isVersion = (1...32).contains(row.value.count) && row.value.allSatisfy { (0x21..<0x7f).contains($0) }
        return isVersion ? String(decoding: row.value, as: UTF8.self) : nil
    }

    /// Writes the version if another one stands there: usually nothing is written.
    static func record(_ version: String, in database: borrowing Database) throws(DatabaseError) {
        guard !version.isEmpty, read(database) != version else { return }
        try database.insert(SettingRow(key: key, value: Array(version.utf8)))
    }
}
