package import Base
import CDBus
import Glibc

/// A connection of our own to the system bus, on the host's loop. Owns it and closes it.
///
/// Nothing waits for the bus: the socket is opened on another thread, and the loop authenticates, registers and writes as
/// far as the bus reads. What is sent before stays in a queue. An answer is a message like others, with the serial of its
/// call. Messages are taken from the connection one by one instead of by the library's dispatch, so there are no C
/// callbacks.
///
/// It is for one service of the bus. What other programs send is dropped (`BusService`).
package final class BusConnection: MessageBus {
    private static let bus = "org.freedesktop.DBus"
    /// The bus must answer within this time.
    private static let patience: Duration = .seconds(10)
    /// Bytes that may wait for the bus to read them, and calls that may wait for an answer.
    private static let mostWaitingBytes = 1 << 20
    private static let mostCalls = 1000
    /// How often waiting bytes are offered again; the wait doubles each time.
    private static let writingDelays: ClosedRange<Duration> = .milliseconds(5)...Duration.milliseconds(500)

    private let host: any EventHost
    private var opening: BusOpening?
    private var connection: OpaquePointer?
    /// What was sent before the socket was open.
    private var unsent: [(message: BusMessage, answered: ((BusMessage) -> Void)?)] = []
    private var registration: (any EventRegistration)?
    private var writing: (any EventRegistration)?
    private var writingDelay = writingDelays.lowerBound
    private var deadline: (any EventRegistration)?
    private var service: BusService
    private var pending: [UInt32: (asked: MonotonicInstant, answered: (BusMessage) -> Void)] = [:]
    package var onMessage: ((BusMessage) -> Void)?
    package var onClosed: (() -> Void)?
    package private(set) var problem = BusError.gone
    /// The name that the bus gave the connection; nil before it has answered.
    private(set) var uniqueName: String?

    /// - Parameter service: The name of the service, such as `org.bluez`.
    /// - Throws: `BusError` if there is no system bus, or if it accepts no connection now.
    package convenience init(to service: String, host: any EventHost) throws(BusError) {
        let set = getenv("DBUS_SYSTEM_BUS_ADDRESS").map { String(cString: $0) } ?? ""
        // The default of the D-Bus Specification ("Well-known Message Bus Instances").
        try self.init(
            to: service, host: host, address: set.isEmpty ? "unix:path=/var/run/dbus/system_bus_socket" : set)
    }

    init(to service: String, host: any EventHost, address: String) throws(BusError) {
        self.host = host
        self.service = BusService(service)
        opening = try BusOpening(address)
        // The bus takes nothing before it.
        call(BusMessage.call(Self.bus, "/org/freedesktop/DBus", Self.bus, "Hello")) { [weak self] in
            self?.registered($0)
        }
        // Before any other call, so that the owner is known when the service answers.
        match(self.service.changes)
        call(self.service.question) { [weak self] in self?.service.takeOwner($0) }
    }

    deinit {
        for registration in [registration, writing, deadline] { registration?.cancel() }
        guard let connection else { return }
        dbus_connection_close(connection)
        dbus_connection_unref(connection)
    }

    package func open() {
        guard let opening, registration == nil else { return }
        registration = host.whenReadable(opening.descriptor) { [weak self] in self?.attach() }
        deadline = host.at(host.now.advanced(by: Self.patience)) { [weak self] in
            self?.lose(
                BusError(
                    description: "the D-Bus system bus does not answer within \(decimal(Self.patience)) s; "
                        + "see: systemctl status dbus"))
        }
        attach()
    }

    package func close() {
        for registration in [registration, writing, deadline] { registration?.cancel() }
        (registration, writing, deadline) = (nil, nil, nil)
        // What was sent last, such as the end of a discovery, as far as the bus reads.
        if let connection { _ = dbus_connection_read_write(connection, 0) }
    }

    package func match(_ rule: String) {
        let call = BusMessage.call(Self.bus, "/org/freedesktop/DBus", Self.bus, "AddMatch")
        call?.append { $0.string(rule) }
        if let call { dbus_message_set_no_reply(call.pointer, 1) }
        send(call)
    }

    package func send(_ message: BusMessage?) { submit(message, nil) }

    package func call(_ message: BusMessage?, _ answered: @escaping (BusMessage) -> Void) {
        // A call must not start its service (bluetoothd, Avahi): its administrator may have stopped it.
        if let message { dbus_message_set_auto_start(message.pointer, 0) }
        submit(message, answered)
    }

    package var longestWait: Duration? { pending.values.map(\.asked).min().map { $0.duration(to: host.now) } }

    // MARK: Writing

    private func submit(_ message: BusMessage?, _ answered: ((BusMessage) -> Void)?) {
        guard let message else { return }
        guard let connection else { return unsent.append((message, answered)) }
        var serial: UInt32 = 0
        // It writes what the socket takes at once, and keeps the rest.
        guard dbus_connection_send(connection, message.pointer, &serial) != 0 else { return }
        if let answered { pending[serial] = (host.now, answered) }
        writeLater()
    }

    /// Writes the rest when the bus may have read, if there is a rest.
    private func writeLater() {
        guard let connection, dbus_connection_has_messages_to_send(connection) != 0 else {
            writing?.cancel()
            (writing, writingDelay) = (nil, Self.writingDelays.lowerBound)
            return
        }
        guard writing == nil, registration != nil else { return }
        writing = host.at(host.now.advanced(by: writingDelay)) { [weak self] in
            guard let self else { return }
            writing = nil
            writingDelay = min(writingDelay * 2, Self.writingDelays.upperBound)
            work()
        }
    }

    /// Whether the bus has not read or answered for so long that what waits for it has become too much.
    private var isStuck: Bool {
        guard let connection else { return false }
        return pending.count > Self.mostCalls || dbus_connection_get_outgoing_size(connection) > Self.mostWaitingBytes
    }

    // MARK: Reading

    /// Takes the connection when it is open.
    private func attach() {
        switch opening?.take() {
        case nil, .underWay?: return
        case .failed(let reason)?:
            opening = nil
            lose(.missing(reason))
        case .opened(let connection)?:
            opening = nil
            self.connection = connection
            // The library would end the whole program when the bus goes away.
            dbus_connection_set_exit_on_disconnect(connection, 0)
            var descriptor: CInt = -1
            guard dbus_connection_get_unix_fd(connection, &descriptor) != 0 else { return lose(.missing("no socket")) }
            registration?.cancel()
            registration = host.whenReadable(descriptor) { [weak self] in self?.work() }
            let unsent = self.unsent
            self.unsent = []
            for (message, answered) in unsent { submit(message, answered) }
            work()
        }
    }

    private func registered(_ answer: BusMessage) {
        deadline?.cancel()
        deadline = nil
        guard !answer.isError else {
            let remedy = BusRefusal.remedy(answer.errorText) ?? "see: systemctl status dbus"
            let text = "the D-Bus system bus refuses the connection: \(answer.errorText); \(remedy)"
            return lose(BusError(description: text))
        }
        uniqueName = answer.reader.string
    }

    /// Reads and writes as far as the bus has written and reads.
    private func work() {
        guard let connection, registration != nil else { return }
        var isOpen = true
        // Each step of the authentication is one round.
        for _ in 0..<4 where isOpen {
            isOpen = dbus_connection_read_write(connection, 0) != 0
            if dbus_connection_has_messages_to_send(connection) == 0 { break }
        }
        while registration != nil, let pointer = dbus_connection_pop_message(connection) {
            let message = BusMessage(owning: pointer)
            // Any message can have the serial of a call in it; the bus itself checks that answers were asked for.
            if message.isAnswer {
                pending.removeValue(forKey: message.replySerial)?.answered(message)
            } else if service.isSender(of: message) {
                onMessage?(message)
            }
        }
        guard registration != nil else { return }
        if !isOpen { return lose(.gone) }
        if isStuck {
            return lose(BusError(description: "the D-Bus system bus does not answer; see: systemctl status dbus"))
        }
        writeLater()
    }

    private func lose(_ problem: BusError) {
        self.problem = problem
        opening = nil
        close()
        onClosed?()
    }
}
