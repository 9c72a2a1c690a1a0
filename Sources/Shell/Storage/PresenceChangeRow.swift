/// The changes of the engine's state since it was written whole, in their order.
struct PresenceChangeRow: StoredRow {
    enum Column: Int, ResultColumn { case id, state }

    static let table = Table<Column>("presence_change")
    /// The schema version that added the table.
    static let schemaVersion = 3

    let id: Int64
    let state: [UInt8]

    init(id: Int64, state: [UInt8]) {
        self.id = id
        self.state = state
    }

    init?(values: Row<Column>) {
        guard let id = values[.id].asInteger, let state = values[.state].asBlob else { return nil }
        self.init(id: id, state: state)
    }

    var values: Row<Column> { [.id: .integer(id), .state: .blob(state)] }
}
