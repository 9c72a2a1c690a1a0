package import Base

/// The kind of a message decides what is dropped when there is no room.
package enum MessageKind: Int64, CaseIterable, Sendable {
    /// Enter or leave of a region. Dropped last.
    case transition = 0
    /// A position report. Dropped before all others except pings.
    case location = 1
    /// A retained value of its topic. It replaces an older one that still waits.
    case state = 2
    /// Anything else.
    case other = 3
    /// A periodic position report. It replaces an older one of its topic that still waits.
    case ping = 4
}

/// Whether the times in a message or a history entry are right.
package enum WallStamp: Int64, Sendable {
    /// The wall clock was not set. The message waits until it is set, and is then rendered again.
    case provisional = 0
    /// The wall clock was set.
    case exact = 1
    /// The machine was switched off before its clock was set. The time is estimated from the next start.
    case estimated = 2
}

/// A message for the broker, before it is in the outbox.
package struct OutgoingMessage: Hashable, Sendable {
    /// The base topic of the tracker. Positions of trackers may change when the configuration is edited.
    package var tracker: String
    package var topic: String
    package var payload: [UInt8]
    /// 0, 1 or 2.
    package var qos: UInt8
    package var retain: Bool
    package var kind: MessageKind
    /// The instant of the event.
    package var happened: MonotonicInstant
    /// `provisional` if its payload was made while the wall clock was unknown.
    package var stamp: WallStamp

    package init(
        tracker: String, topic: String, payload: [UInt8], qos: UInt8, retain: Bool, kind: MessageKind,
        happened: MonotonicInstant, stamp: WallStamp
    ) {
        self.tracker = tracker
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.retain = retain
        self.kind = kind
        self.happened = happened
        self.stamp = stamp
    }
}

/// A message that is on the disk.
package struct OutboxRow: Hashable, Sendable {
    /// Grows with every message; the order of delivery.
    package let id: Int64
    package var message: OutgoingMessage
    /// The boot (`/proc/sys/kernel/random/boot_id`) whose clock `message.happened` was read from.
    package let boot: String

    package init(id: Int64, message: OutgoingMessage, boot: String) {
        self.id = id
        self.message = message
        self.boot = boot
    }
}

/// A message that was not delivered, because the broker refused it or because it was damaged.
package struct RefusedRow: Hashable, Sendable {
    package let row: OutboxRow
    package let reason: String

    package init(row: OutboxRow, reason: String) {
        self.row = row
        self.reason = reason
    }
}
