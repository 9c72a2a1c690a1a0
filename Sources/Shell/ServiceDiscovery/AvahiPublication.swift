package import DBus

/// Announces a service in the local network. Avahi answers for it by multicast DNS; this asks Avahi over D-Bus (the interfaces
/// `org.freedesktop.Avahi.Server` and `EntryGroup`, as Avahi's introspection files describe them). Avahi withdraws it when the
/// connection to the bus ends.
package final class AvahiPublication {
    /// What is announced.
    package struct Service: Hashable, Sendable {
        package let instance: String
        /// Such as `_mqtt._tcp`.
        package let kind: String
        package let port: UInt16
        /// `key=value`, each at most 255 bytes.
        package let records: [String]

        package init(instance: String, kind: String, port: UInt16, records: [String]) {
            (self.instance, self.kind, self.port, self.records) = (instance, kind, port, records)
        }
    }

    private static let serverInterface = "org.freedesktop.Avahi.Server"
    private static let groupInterface = "org.freedesktop.Avahi.EntryGroup"
    /// `AVAHI_IF_UNSPEC` and `AVAHI_PROTO_UNSPEC`: everywhere.
    private static let any: Int32 = -1

    /// The states of an entry group, as Avahi numbers them (avahi-common/defs.h).
    private enum GroupState: Int32 {
        case uncommitted, registering, established, collision, failure
    }

    private let service: Service
    private let bus: any MessageBus
    private let onChange: () -> Void
    /// Answers to the calls of an earlier attempt count no more.
    private var attempt = 0
    /// Avahi's object for the service.
    private var group = ""

    /// Whether Avahi answers for the service: it has asked the network first whether another device has the name.
    package private(set) var isPublished = false
    /// Why it has not; nil: it has, or has not answered yet.
    package private(set) var problem: String?
    /// Whether the problem may pass without a word of Avahi: the other device of that name may have gone, or got another name.
    package private(set) var mayTryAgain = false
    /// Whether the connection to the bus has ended. Another publication is needed then.
    package private(set) var hasEnded = false

    /// - Parameter onChange: called when one of the properties has changed.
    package init(_ service: Service, bus: any MessageBus, onChange: @escaping () -> Void) {
        (self.service, self.bus, self.onChange) = (service, bus, onChange)
    }

    /// Begins. `stop` must end it.
    package func start() {
        bus.onMessage = { [weak self] in self?.handle($0) }
        bus.onClosed = { [weak self] in
            guard let self else { return }
            hasEnded = true
            end(because: "\(bus.problem)")
        }
        bus.open()
        publish()
    }

    /// Announces the service again after a problem that may have passed.
    package func tryAgain() {
        guard mayTryAgain else { return }
        publish()
    }

    /// Withdraws the service.
    package func stop() {
        attempt += 1
        bus.close()
    }

    /// Avahi was started, or has ended: with it all that it announced.
    private func handle(_ message: BusMessage) {
        guard message.isSignal else { return }
        var reader = message.reader
        if message.member == "StateChanged", message.path == group { return take(reader.int32) }
        guard message.member == "NameOwnerChanged" else { return }
        reader.next()
        reader.next()
        guard reader.string?.isEmpty == false else { return end(because: "avahi-daemon does not run") }
        set(false, nil)
        publish()
    }

    private func publish() {
        attempt += 1
        mayTryAgain = false
        ask(BusMessage.call(AvahiSearch.busName, "/", Self.serverInterface, "EntryGroupNew")) { publication, answer in
            guard let group = answer.reader.string else { return publication.end(because: "Avahi names no group") }
            publication.group = group
            publication.add(to: group)
        }
    }

    private func add(to group: String) {
        let call = BusMessage.call(AvahiSearch.busName, group, Self.groupInterface, "AddService")
        call?.append { [service] arguments in
            arguments.int32(Self.any)
            arguments.int32(Self.any)
            arguments.uint32(0)
            for text in [service.instance, service.kind, "", ""] { arguments.string(text) }
            arguments.uint16(service.port)
            arguments.container(BusType.array, "ay") { records in
                for record in service.records {
                    records.container(BusType.array, "y") { bytes in for byte in record.utf8 { bytes.byte(byte) } }
                }
            }
        }
        ask(call) { publication, _ in
            publication.ask(BusMessage.call(AvahiSearch.busName, group, Self.groupInterface, "Commit")) {
                publication, _ in
                // It tells changes, and the first may have come before.
                publication.ask(BusMessage.call(AvahiSearch.busName, group, Self.groupInterface, "GetState")) {
                    $0.take($1.reader.int32)
                }
            }
        }
    }

    private func take(_ number: Int32?) {
        switch number.flatMap(GroupState.init) {
        case .established: set(true, nil)
        case .collision: fail(because: "another device of this network is called \(service.instance)")
        case .failure: fail(because: "Avahi failed to announce it")
        // Until Avahi has asked the network, the reason of an earlier failure holds.
        case .uncommitted, .registering, nil: set(false, problem)
        }
    }

    private func set(_ isPublished: Bool, _ problem: String?) {
        guard (isPublished, problem) != (self.isPublished, self.problem) else { return }
        (self.isPublished, self.problem) = (isPublished, problem)
        onChange()
    }

    private func ask(_ call: BusMessage?, _ answered: @escaping (AvahiPublication, BusMessage) -> Void) {
        bus.call(call) { [weak self, attempt] answer in
            guard let self, self.attempt == attempt else { return }
            guard !answer.isError else {
                // The bus tells when Avahi is there.
                return answer.isOfNoOwner ? end(because: answer.errorText) : fail(because: answer.errorText)
            }
            answered(self, answer)
        }
    }

    /// Avahi runs, and does not announce it.
    private func fail(because reason: String) {
        if !group.isEmpty { bus.send(BusMessage.call(AvahiSearch.busName, group, Self.groupInterface, "Free")) }
        end(because: reason)
        mayTryAgain = true
    }

    private func end(because reason: String) {
        attempt += 1
        mayTryAgain = false
        group = ""
        set(false, reason)
    }
}
