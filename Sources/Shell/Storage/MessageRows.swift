import Base

/// A message as columns, common to the tables `outbox` and `refused`.
private enum MessageColumns {
    static let names = ["id", "tracker", "topic", "qos", "retain", "kind", "payload", "boot", "happened", "stamp"]

    static func values(of row: OutboxRow) -> [SQLValue] {
        let message = row.message
        return [
            .integer(row.id), .text(message.tracker), .text(message.topic), .number(message.qos),
            .flag(message.retain), .integer(message.kind.rawValue), .blob(message.payload), .text(row.boot),
            .integer(message.happened.nanoseconds), .integer(message.stamp.rawValue),
        ]
    }

    static func row(from values: ArraySlice<SQLValue>) -> OutboxRow? {
        let values = Array(values)
        guard values.count == names.count, let id = values[0].asInteger, let tracker = values[1].asText,
            let topic = values[2].asText, let qos = values[3].asInteger, (0...2).contains(qos),
            let retain = values[4].asInteger, let kind = values[5].asInteger.flatMap(MessageKind.init(rawValue:)),
            let payload = values[6].asBlob, let boot = values[7].asText, let happened = values[8].asInteger,
            let stamp = values[9].asInteger.flatMap(WallStamp.init(rawValue:))
        else { return nil }
        return OutboxRow(
            id: id,
            message: OutgoingMessage(
                tracker: tracker, topic: topic, payload: payload, qos: UInt8(qos), retain: retain != 0, kind: kind,
                happened: MonotonicInstant(nanoseconds: happened), stamp: stamp),
            boot: boot)
    }
}

extension OutboxRow: StoredRow {
    static let table = "outbox"
    static let columns = MessageColumns.names
    static let insertSQL = makeInsertSQL()

    init?(values: [SQLValue]) {
        guard let row = MessageColumns.row(from: values[...]) else { return nil }
        self = row
    }

    var values: [SQLValue] { MessageColumns.values(of: self) }
}

extension RefusedRow: StoredRow {
    static let table = "refused"
    static let columns = MessageColumns.names + ["reason"]
    static let insertSQL = makeInsertSQL()

    init?(values: [SQLValue]) {
        guard let row = MessageColumns.row(from: values.dropLast()), let reason = values.last?.asText else {
            return nil
        }
        self.init(row: row, reason: reason)
    }

    var values: [SQLValue] { MessageColumns.values(of: row) + [.text(reason)] }
}
