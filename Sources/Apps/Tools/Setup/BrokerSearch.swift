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

    /// The brokers that were found: this machine's alone if it has one, otherwise those that answered in the local network, in the order of
    /// their answers.
    struct Found {
        var brokers: [Address] = []
        /// Whether the broker is this machine's. In the network every machine can answer.
        var isHere = false
        /// Whether one was looked for. One with TLS is not: its name must be one of its certificate, and a search tells no such name.
        var isSought = true

        /// The brokers in words.
        private var text: String { brokers.map { "\($0.host):\($0.port)" }.joined(separator: ", ") }

        /// What was found, for the dialogue.
        var sentence: String {
            guard isSought else { return "With TLS none is looked for: its name must be one of its certificate." }
            return switch brokers.count {
            case 0: "None was found, here or by mDNS."
            case 1: "Found one at \(text)."
            default: "Found \(brokers.count): \(text)."
            }
        }

        /// What is taken without a question.
        ///
        /// - Throws: If none was looked for, if there is none, or if a password would be sent to a machine that nobody has named.
        func chosen(hasPassword: Bool) throws(Failure) -> Address {
            guard isSought else {
                throw Failure(
                    .usage,
                    "with TLS no broker is looked for, because its name must be one of its certificate; name it with --host"
                )
            }
            guard let first = brokers.first else {
                throw Failure(.unavailable, "no MQTT broker was found, here or by mDNS; name it with --host")
            }
            guard isHere || !hasPassword else {
                throw Failure(
                    .usage,
                    "any machine in the network can answer by mDNS, so the password is not sent to what answered (\(text)); "
                        + "name the broker with --host")
            }
            return first
        }
    }

    /// - Parameter patience: Time to wait for answers from the network.
    static func find(patience: Duration = .milliseconds(1500)) -> Found {
        if case .reached = HostReach.probe("localhost", port: 1883, patience: .seconds(1)) {
            return Found(brokers: [Address(host: "localhost", port: 1883)], isHere: true)
        }
        let instances = (try? search("_mqtt._tcp", for: patience)) ?? []
        var found = Found(brokers: instances.map { Address(host: $0.host, port: $0.port) })
        // A name stays valid when a DHCP address changes, but not every machine can look up names in .local.
        if let first = instances.first,
            case .unknownName = HostReach.probe(first.host, port: first.port, patience: .seconds(2))
        {
            found.brokers = instances.map { Address(host: $0.address, port: $0.port) }
        }
        return found
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
