import Base

extension Row where Column: MessageColumn {
    init(_ row: OutboxRow) {
        let publication = row.publication
        self = [
            .id: .integer(row.id), .tracker: .text(publication.owner), .topic: .text(publication.topic),
            .qos: .number(publication.qos.rawValue), .retain: .flag(publication.isRetained),
            .kind: .integer(publication.kind.rawValue), .payload: .blob(publication.payload), .boot: .text(row.boot),
            .happened: .integer(publication.happened.nanoseconds), .stamp: .integer(publication.stamp.rawValue),
        ]
    }

    var message: OutboxRow? {
        guard let id = self[.id].asInteger, let owner = self[.tracker].asText, let topic = self[.topic].asText,
            let qos = self[.qos].asInteger.flatMap(UInt8.init(exactly:)).flatMap(QoS.init(rawValue:)),
            let retain = self[.retain].asInteger,
            let kind = self[.kind].asInteger.flatMap(Publication.Kind.init(rawValue:)),
            let payload = self[.payload].asBlob, let boot = self[.boot].asText,
            let happened = self[.happened].asInteger,
            let stamp = self[.stamp].asInteger.flatMap(WallStamp.init(rawValue:))
        else { return nil }
        return OutboxRow(
            id: id,
            publication: Publication(
                kind, of: owner, topic: topic, payload: payload, qos: qos, isRetained: retain != 0,
                happened: MonotonicInstant(nanoseconds: happened), stamp: stamp),
            boot: boot)
    }
}

extension OutboxRow: StoredRow {
    enum Column: Int, MessageColumn {
        case id, tracker, topic, qos, retain, kind, payload, boot, happened, stamp
    }

    static let table = Table<Column>("outbox")

    init?(values: Row<Column>) {
        guard let message = values.message else { return nil }
        self = message
    }

    var values: Row<Column> { Row(self) }
}

extension RefusedRow: StoredRow {
    enum Column: Int, MessageColumn {
        case id, tracker, topic, qos, retain, kind, payload, boot, happened, stamp
        case reason
    }

    static let table = Table<Column>("refused")

    init?(values: Row<Column>) {
        guard let row = values.message, let reason = values[.reason].asText else { return nil }
        self.init(row: row, reason: reason)
    }

    var values: Row<Column> {
        var values = Row<Column>(row)
        values[.reason] = .text(reason)
        return values
    }
}
