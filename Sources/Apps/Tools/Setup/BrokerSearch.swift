import Base
import DBus
import Messaging
import Runtime
import ServiceDiscovery
import Shell
import System

/// Finds a broker on this machine, or with Avahi in the local network.
enum BrokerSearch {
    struct Address: Equatable {
        let host: String
        let port: UInt16
    }

    /// - Parameter patience: Time to wait for answers from the network.
    static func find(patience: Duration = .milliseconds(1500)) -> Address? {
        if case .reached = HostReach.probe("localhost", port: 1883, patience: .seconds(1)) {
            return Address(host: "localhost", port: 1883)
        }
        guard let found = try? search("_mqtt._tcp", for: patience).first else { return nil }
        // A name stays valid when a DHCP address changes, but not every machine can look up names in .local.
        if case .unknownName = HostReach.probe(found.host, port: found.port, patience: .seconds(2)) {
            return Address(host: found.address, port: found.port)
        }
        return Address(host: found.host, port: found.port)
    }

    /// Asks Avahi for services of a kind, until the answers are complete or the time is over.
    ///
    /// - Throws: If there is no system bus or no event loop.
    private static func search(_ kind: String, for patience: Duration) throws -> [AvahiSearch.Found] {
        let loop = try EventLoop()
        let host = LoopHost(loop: loop, log: Log(threshold: .error))
        let search = AvahiSearch(kind, bus: try BusConnection(to: AvahiSearch.busName, host: host)) { loop.exit(0) }
        let limit = host.at(Clocks.now().advanced(by: patience)) { loop.exit(0) }
        defer {
            search.stop()
            limit.cancel()
        }
        search.start()
        _ = try loop.run()
        return search.found
    }
}
