/// Puts together what the answers to a search for one kind of service say, until it is known where instances are.
package struct ServiceSearch: Sendable {
    /// Where one is.
    package struct Found: Hashable, Sendable {
        /// What its owner calls it.
        package let instance: String
        /// Its host's name, such as `homeassistant.local`.
        package let host: String
        package let port: UInt16
        /// The host's IPv4 address in dotted form, if it was told.
        package let address: String?
    }

    /// `_mqtt._tcp.local`
    private let kind: String
    private var instances: [String] = []
    private var services: [String: (host: String, port: UInt16)] = [:]
    private var addresses: [String: String] = [:]
    /// What many hosts can fill is bounded.
    private static let most = 32

    /// - Parameter kind: such as `_mqtt._tcp`.
    package init(_ kind: String) { self.kind = kind + ".local" }

    /// What to ask to begin with.
    package var firstQuestion: [UInt8]? { DNSMessage.question(kind, .pointer) }

    /// Takes one answer.
    /// - Returns: what is to be asked now.
    package mutating func take(_ packet: [UInt8]) -> [[UInt8]] {
        var questions: [[UInt8]?] = []
        for record in DNSMessage.records(in: packet) {
            switch record {
            case .pointer(let name, let target) where name.lowercased() == kind.lowercased():
                guard !instances.contains(target), instances.count < Self.most else { continue }
                instances.append(target)
            case .service(let name, let host, let port) where services.count < Self.most:
                services[name] = (host, port)
            case .address(let name, let octets) where addresses.count < Self.most:
                addresses[name] = octets.map(String.init).joined(separator: ".")
            default: continue
            }
        }
        for instance in instances {
            guard let service = services[instance] else {
                questions.append(DNSMessage.question(instance, .service))
                continue
            }
            if addresses[service.host] == nil { questions.append(DNSMessage.question(service.host, .address)) }
        }
        return questions.compactMap { $0 }
    }

    /// Every instance whose place is known, in the order in which they answered.
    package var found: [Found] {
        instances.compactMap { instance in
            guard let service = services[instance] else { return nil }
            let suffix = "." + kind
            let name =
                instance.lowercased().hasSuffix(suffix.lowercased()) ? instance.dropLast(suffix.count) : instance[...]
            return Found(
                instance: String(name), host: service.host, port: service.port, address: addresses[service.host])
        }
    }

    /// Whether nothing of what has answered is still unknown.
    package var isComplete: Bool {
        !instances.isEmpty && instances.allSatisfy { services[$0].map { addresses[$0.host] != nil } ?? false }
    }
}
