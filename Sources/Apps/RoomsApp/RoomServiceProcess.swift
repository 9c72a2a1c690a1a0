import Glibc
package import PageServer
package import Runtime
package import Shell
package import System

/// The rooms service as a separate process: the event loop, the real links, and signals.
package enum RoomServiceProcess {
    /// The state directory, unless the command line or systemd sets another.
    package static let defaultStateDirectory = "/var/lib/ibeacon-gateway-rooms"

    /// Runs until a signal ends it.
    ///
    /// - Parameter offer: What the page answers to who adds a gateway.
    package static func run(
        _ settings: Settings, offer: @escaping GatewayOffer, log: Log
    ) throws -> ExitCode {
        let loop = try EventLoop()
        loop.onSlowTurn = { log.slowTurn($0) }
        let host = try EventLoopHost(loop: loop, log: log)
        // Signals must be blocked before another thread starts.
        var watches: [AnyObject] = []
        let service = try RoomService(
            settings: settings,
            links: AppLinks(
                store: ThreadedStoreLink(loop: loop, log: log), broker: ThreadedBrokerLink(loop: loop),
                status: StatusServerLink(loop: loop, log: log, host: host)), host: host, log: log)
        service.offer = offer
        for signal in [SIGTERM, SIGINT] { watches.append(try loop.onSignal(signal) { service.app.stop() }) }
        watches.append(try loop.onSignal(SIGHUP) { service.app.reload() })
        watches.append(try WallClockWatch(loop: loop) { service.app.readClock() })
        try service.start()
        let code = try loop.run()
        return withExtendedLifetime(watches) { ExitCode(rawValue: code) ?? .software }
    }
}
