package import DBus

/// Finds the services of one kind in the local network. Avahi searches for them by multicast DNS; this asks Avahi over D-Bus
/// (the interfaces `org.freedesktop.Avahi.Server` and `ServiceBrowser`, as Avahi's introspection files describe them).
package final class AvahiSearch {
    /// An instance of the service.
    package struct Found: Hashable, Sendable {
        /// Its name, as its owner chose it.
        package let instance: String
        /// Its host's name, such as `homeassistant.local`.
        package let host: String
        package let port: UInt16
        /// The host's IPv4 address in dotted form.
        package let address: String
    }

    package static let busName = "org.freedesktop.Avahi"
    private static let serverInterface = "org.freedesktop.Avahi.Server"
    private static let browserInterface = "org.freedesktop.Avahi.ServiceBrowser"
    /// `AVAHI_IF_UNSPEC`: every network interface.
    private static let anyInterface: Int32 = -1
    /// `AVAHI_PROTO_INET`: IPv4.
    private static let ipv4: Int32 = 0
    /// Any host of the network can announce instances, so their number is bounded.
    private static let mostInstances = 32

    private let bus: any MessageBus
    private let kind: String
    private let onEnd: () -> Void
    private var instances: Set<String> = []
    private var unresolved = 0
    /// Whether Avahi has named every instance that it knows for now.
    private var hasAll = false
    private var hasEnded = false

    /// The instances whose address is known, in the order of the answers.
    package private(set) var found: [Found] = []

    /// - Parameters:
    ///   - kind: such as `_mqtt._tcp`.
    ///   - onEnd: called once, when the answers are complete, or when Avahi cannot be asked.
    package init(_ kind: String, bus: any MessageBus, onEnd: @escaping () -> Void) {
        self.kind = kind
        self.bus = bus
        self.onEnd = onEnd
    }

    /// Begins to search. `stop` must end it.
    package func start() {
        bus.onMessage = { [weak self] in self?.handle($0) }
        bus.onClosed = { [weak self] in self?.end() }
        bus.open()
        // Avahi may send the first instance before it answers the call that asks for it.
        bus.match("type='signal',sender='\(Self.busName)',interface='\(Self.browserInterface)'")
        let call = BusMessage.call(Self.busName, "/", Self.serverInterface, "ServiceBrowserNew")
        call?.append { [kind] arguments in
            arguments.int32(Self.anyInterface)
            arguments.int32(Self.ipv4)
            arguments.string(kind)
            arguments.string("")
            arguments.uint32(0)
        }
        bus.call(call) { [weak self] answer in if answer.isError { self?.end() } }
    }

    /// Ends the search. What was found stays.
    package func stop() {
        hasEnded = true
        bus.close()
    }

    private func handle(_ message: BusMessage) {
        guard message.isSignal, message.interface == Self.browserInterface else { return }
        switch message.member {
        case "ItemNew": resolve(message.reader)
        case "AllForNow":
            hasAll = true
            endIfComplete()
        case "Failure": end()
        default: break
        }
    }

    /// Asks for host, address and port of an instance: interface, protocol, name, type, domain.
    private func resolve(_ item: BusReader) {
        var item = item
        guard let interface = item.int32 else { return }
        item.next()
        guard let networkProtocol = item.int32 else { return }
        item.next()
        guard let name = item.string else { return }
        item.next()
        item.next()
        guard let domain = item.string, instances.count < Self.mostInstances,
            instances.insert("\(interface) \(name).\(domain)").inserted
        else { return }
        let call = BusMessage.call(Self.busName, "/", Self.serverInterface, "ResolveService")
        call?.append { [kind] arguments in
            arguments.int32(interface)
            arguments.int32(networkProtocol)
            arguments.string(name)
            arguments.string(kind)
            arguments.string(domain)
            arguments.int32(Self.ipv4)
            arguments.uint32(0)
        }
        unresolved += 1
        bus.call(call) { [weak self] answer in
            guard let self else { return }
            unresolved -= 1
            if let instance = Self.instance(in: answer), !found.contains(instance) { found.append(instance) }
            endIfComplete()
        }
    }

    /// Reads interface, protocol, name, type, domain, host, protocol of the address, address, port.
    private static func instance(in answer: BusMessage) -> Found? {
        guard !answer.isError else { return nil }
        var reader = answer.reader
        reader.next()
        reader.next()
        guard let name = reader.string else { return nil }
        for _ in 0..<3 { reader.next() }
        guard let host = reader.string else { return nil }
        for _ in 0..<2 { reader.next() }
        guard let address = reader.string else { return nil }
        reader.next()
        guard let port = reader.uint16 else { return nil }
        return Found(instance: name, host: host, port: port, address: address)
    }

    private func endIfComplete() {
        if hasAll, unresolved == 0 { end() }
    }

    private func end() {
        guard !hasEnded else { return }
        hasEnded = true
        onEnd()
    }
}
