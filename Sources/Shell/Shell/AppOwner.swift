package import Base
package import Configuration
package import Health
package import Messaging
package import Regions
package import Storage
package import System

/// What `App` does not know of its service: what the events of the links mean to the core, and the effects that no other
/// core has. `App` calls it; it answers by `App.handle`.
package protocol AppOwner<Core>: AnyObject {
    associatedtype Core: ServiceCore

    // MARK: Decisions

    /// The part of the effects that the links carry out.
    func decision(of effects: [Core.Effect], at now: MonotonicInstant) -> Decision
    /// Carries out the rest of the effects. Meanwhile the store writes, so that no message waits for the page and the log.
    func finish(_ effects: [Core.Effect])

    // MARK: The store

    /// The store is open: passes the stored state to the core. It is the first call.
    func restore(_ snapshot: StoreSnapshot, at now: MonotonicInstant)
    /// The state is restored, and the connection to the broker was begun.
    ///
    /// - Returns: The state of the service in a few words, for the service manager.
    func begin(with snapshot: StoreSnapshot, at now: MonotonicInstant) -> String
    /// The command line edited regions.
    func merge(_ edits: [RegionEdit], at now: MonotonicInstant)
    /// The values of these keys are on the disk.
    func kept(_ keys: Set<String>)

    // MARK: The broker

    /// - Returns: nil if no connection is to be made. The owner has logged why.
    func connection(at now: MonotonicInstant) -> BrokerRequest?
    /// The connection was opened, and does not exist yet.
    func opened() throws
    /// Whether stored messages are delivered as soon as there is a connection.
    var deliversAtOnce: Bool { get }
    /// Whether a stored message is still to be sent; false: it is removed.
    func delivers(_ publication: Publication) -> Bool
    /// - Parameter isNew: The broker remembers no session and perhaps no retained message, or could not take all states before.
    func connected(isNew: Bool, at now: MonotonicInstant)
    /// The connection was lost or closed.
    func disconnected(at now: MonotonicInstant)
    func received(_ message: ReceivedMessage, at now: MonotonicInstant)
    func received(_ message: DecodedMessage, at now: MonotonicInstant)
    /// What the service lacks because of a refusal, for log and findings; nil: nothing.
    func consequence(of refused: Refused) -> RefusalRecord.Consequence?

    // MARK: The rest

    /// The configuration file was read again. The service holds the settings from now on.
    ///
    /// - Returns: What a reload does with them.
    /// - Throws: `Failure` if the settings cannot be used; the old ones stay in force.
    func adopt(_ settings: Settings) throws(Failure) -> Reload
    /// Applies the adopted settings, with a new connection if they need one.
    func putInForce(_ reload: Reload)
    /// Entries of the history before these epoch seconds are deleted; nil: none.
    func historyBegin(at epochSeconds: Int64) -> Int64?
    /// The wall clock was not known, and is now. The times of what happened before are not stored yet.
    func clockIsKnown()
    /// Something changed that the page shows at once.
    func changed()
    /// The service ends: closes what only it has. The broker and the store are still open.
    func stop()
}

extension AppOwner {
    package func kept(_ keys: Set<String>) {}
    package func opened() throws {}
    package var deliversAtOnce: Bool { true }
    package func disconnected(at now: MonotonicInstant) {}
    package func received(_ message: DecodedMessage, at now: MonotonicInstant) {}
    package func clockIsKnown() {}
    package func changed() {}
}
