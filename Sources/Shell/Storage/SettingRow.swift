/// A small value by name.
struct SettingRow: StoredRow {
    enum Column: Int, ResultColumn { case key, value }

    static let table = Table<Column>("setting")

    let key: String
    let value: [UInt8]

    init(key: String, value: [UInt8]) {
        self.key = key
        self.value = value
    }

    init?(values: Row<Column>) {
        guard let key = values[.key].asText, let value = values[.value].asBlob else { return nil }
        self.init(key: key, value: value)
    }

    var values: Row<Column> { [.key: .text(key), .value: .blob(value)] }
}
