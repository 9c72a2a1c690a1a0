import Base
import Beacon
import Glibc
import Runtime
import ServiceDiscovery
import System

/// Finds a broker: on this machine, or by multicast DNS in the network around it.
enum BrokerSearch {
    struct Place: Equatable {
        let host: String
        let port: UInt16
    }

    /// - Parameter patience: for answers from the network.
    static func find(patience: Duration = .milliseconds(1500)) -> Place? {
        if case .reached = HostReach.probe("localhost", port: 1883, patience: .seconds(1)) {
            return Place(host: "localhost", port: 1883)
        }
        guard let found = ask("_mqtt._tcp", for: patience).first else { return nil }
        // A name outlives an address that was lent, but not every machine can look up names in .local.
        if case .unknownName = HostReach.probe(found.host, port: found.port, patience: .seconds(2)),
            let address = found.address
        {
            return Place(host: address, port: found.port)
        }
        return Place(host: found.host, port: found.port)
    }

    /// Asks the link for services of a kind until an answer is whole or time is up.
    private static func ask(_ kind: String, for patience: Duration) -> [ServiceSearch.Found] {
        let descriptor = socket(
            AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), Int32(IPPROTO_UDP))
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var search = ServiceSearch(kind)
        guard let question = search.firstQuestion else { return [] }
        send(question, descriptor)
        let end = Clocks.now().advanced(by: patience)
        var buffer = [UInt8](repeating: 0, count: 9000)
        while !search.isComplete {
            let left = Clocks.now().duration(to: end)
            guard left > .zero else { break }
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, Int32(clamping: left.nanoseconds / 1_000_000 + 1)) > 0 else { continue }
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { continue }
            for question in search.take(Array(buffer[..<count])) { send(question, descriptor) }
        }
        return search.found
    }

    /// To the group and port of RFC 6762, 3.
    private static func send(_ packet: [UInt8], _ descriptor: Int32) {
        var group = sockaddr_in()
        group.sin_family = sa_family_t(AF_INET)
        group.sin_port = in_port_t(5353).bigEndian
        group.sin_addr.s_addr = inet_addr("224.0.0.251")
        _ = withUnsafePointer(to: &group) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, packet, packet.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
