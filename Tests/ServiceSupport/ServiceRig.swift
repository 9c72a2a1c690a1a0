import Base
package import Shell

/// A service in virtual time, over doubles of its links.
package protocol ServiceRig {
    associatedtype Core: ServiceCore

    var host: ServiceHostDouble { get }
    var store: SteppedStore { get }
    var broker: BrokerDouble { get }
    var app: App<Core> { get }
    /// Handles the events of links that only this service has.
    ///
    /// - Returns: whether there were any.
    func handleOwnEvents() -> Bool
    /// Fails the test: the service does not come to rest.
    func recordUnrest()
}

extension ServiceRig {
    package func handleOwnEvents() -> Bool { false }

    /// Lets store and broker answer until neither has anything more to say.
    package func settle() {
        for _ in 1...1000 {
            host.fireDueTimers()
            var isQuiet = true
            if store.step() {
                app.handleStoreEvents()
                isQuiet = false
            }
            // While a turn is to come, the events wait for it.
            if broker.hasEvents, !app.brokerTurns.isToCome {
                app.handleBrokerEvents()
                isQuiet = false
            }
            if handleOwnEvents() { isQuiet = false }
            if isQuiet { return }
        }
        recordUnrest()
    }

    /// Lets time pass, with everything done when it is due.
    package func wait(_ duration: Duration) {
        let end = host.now.advanced(by: duration)
        while let due = [host.nextDue, store.nextDeadline].compactMap(\.self).min(), due < end {
            host.now = max(host.now.advanced(by: .milliseconds(1)), due)
            settle()
        }
        host.now = end
        settle()
    }
}
