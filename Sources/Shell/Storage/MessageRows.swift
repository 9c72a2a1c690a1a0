import Base

/// The columns of a message, common to the tables `outbox` and `refused`.
protocol MessageColumn: ResultColumn {
    static var id: Self { get }
    static var tracker: Self { get }
    static var topic: Self { get }
    static var qos: Self { get }
    static var retain: Self { get }
    static var kind: Self { get }
    static var payload: Self { get }
    static var boot: Self { get }
    static var happened: Self { get }
    static var stamp: Self { get }
}

extension Row where Column: MessageColumn {
    init(_ row: OutboxRow) {
        let message = row.message
        self = [
            .id: .integer(row.id), .tracker: .text(message.tracker), .topic: .text(message.topic),
            .qos: .number(message.qos), .retain: .flag(message.retain), .kind: .integer(message.kind.rawValue),
            .payload: .blob(message.payload), .boot: .text(row.boot),
            .happened: .integer(message.happened.nanoseconds), .stamp: .integer(message.stamp.rawValue),
        ]
    }

    var message: OutboxRow? {
        guard let id = self[.id].asInteger, let tracker = self[.tracker].asText, let topic = self[.topic].asText,
            let qos = self[.qos].asInteger, (0...2).contains(qos), let retain = self[.retain].asInteger,
            let kind = self[.kind].asInteger.flatMap(MessageKind.init(rawValue:)),
            let payload = self[.payload].asBlob, let boot = self[.boot].asText,
            let happened = self[.happened].asInteger,
            let stamp = self[.stamp].asInteger.flatMap(WallStamp.init(rawValue:))
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
