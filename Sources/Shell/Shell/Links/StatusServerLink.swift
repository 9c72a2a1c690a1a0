import Base
package import PageServer
package import Runtime
package import System

/// The status link over the HTTP server.
package final class StatusServerLink: StatusLink {
    /// How long to wait before the next attempt if the port is in use, or the network is not up yet.
    private static let portRetry: Duration = .seconds(10)

    private let loop: EventLoop
    private let log: Log
    private let host: any ServiceHost
    private let link = OneTimeLink()
    private var servers: [StatusServer] = []
    /// The entrances that could not be opened yet.
    private var retries: [StatusServerSettings.Entrance: any ServiceTimer] = [:]

    package init(loop: EventLoop, log: Log, host: any ServiceHost) {
        self.loop = loop
        self.log = log
        self.host = host
    }

    package func open(_ settings: StatusServerSettings, source: any PageSource) throws(Failure) {
        do throws(StatusServerError) {
            // Radio, store and broker are handled first: with any number of clients, a transition waits for at most one
            // turn of sending.
            servers.append(
                try StatusServer(
                    settings: settings, host: LoopHost(loop: loop, log: log, goesLast: true), source: source,
                    link: link))
            if case .port(let address) = settings.entrance {
                link.obstacle = nil
                log.notice("status page: http://\(address)/")
            }
        } catch {
            if case .port = settings.entrance { link.obstacle = ("\(error)", error.remedy) }
            switch error {
            case .listen, .socket: log.once("http", .error, "\(error); it is tried again")
            default: throw Failure(.configuration, "\(error)")
            }
            let timer =
                retries[settings.entrance]
                ?? host.timer(tolerance: .seconds(1)) { [unowned self] _ in retry(settings, source) }
            timer.arm(after: Self.portRetry)
            retries[settings.entrance] = timer
        }
    }

    private func retry(_ settings: StatusServerSettings, _ source: any PageSource) {
        do throws(Failure) {
            try open(settings, source: source)
        } catch {
            log.error("the status page cannot be served: \(error.message)")
        }
    }

    package var pageProblem: (text: String, remedy: String)? { link.obstacle }

    package func changed() { for server in servers { server.changed() } }

    package func close() {
        retries = [:]
        for server in servers { server.stop() }
        servers = []
    }
}
