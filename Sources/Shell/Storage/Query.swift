/// A query whose columns have the names of `Column`, in this order.
struct Query<Column: ResultColumn>: Sendable {
    let sql: String
    let names: [String]

    init(_ sql: String) {
        self.sql = sql
        names = Column.names
    }
}
