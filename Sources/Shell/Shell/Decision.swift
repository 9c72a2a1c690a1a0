package import Base
package import Storage

/// The part of one decision that the links carry out.
package struct Decision {
    /// Written in one transaction. The messages among them go to the broker when they are on the disk.
    package var changes: [StoreChange] = []
    /// Stored with the next other write.
    package var checkpoint: PresenceRecord?
    /// Published at once, without the outbox: messages that are useless later, or are made again for each connection.
    package var publications: [Publication] = []
    /// Whether all edits of the command line are to be reported again.
    package var rereadsEdits = false

    package init() {}
}
