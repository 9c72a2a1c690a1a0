package import Base
import CDBus

/// A connection of our own to the system bus, on the host's loop. Owns it and closes it.
///
/// Messages are taken from the connection one by one instead of by the library's dispatch, so there are no C
/// callbacks. Nothing waits for an answer: an answer is a message like others, with the serial of its call.
///
/// It is for one service of the bus. What other programs send is dropped (`BusService`).
package final class BusConnection: MessageBus {
    private let connection: OpaquePointer
    private let host: any EventHost
    private var registration: (any EventRegistration)?
    private var service: BusService
    private var pending: [UInt32: (BusMessage) -> Void] = [:]
    package var onMessage: ((BusMessage) -> Void)?
    package var onClosed: (() -> Void)?

    /// - Parameter service: The name of the service, such as `org.bluez`.
    /// - Throws: `BusError` if there is no system bus.
    package convenience init(to service: String, host: any EventHost) throws(BusError) {
        try self.init(to: service, host: host) { dbus_bus_get_private(DBUS_BUS_SYSTEM, &$0) }
    }

    /// - Parameter connect: Connects to a bus and registers there (`Hello`), as `dbus_bus_get_private` does.
    init(to service: String, host: any EventHost, connect: (inout DBusError) -> OpaquePointer?) throws(BusError) {
        self.host = host
        self.service = BusService(service)
        var error = DBusError()
        dbus_error_init(&error)
        defer { dbus_error_free(&error) }
        guard let connection = connect(&error) else {
            let reason = error.message.map { String(cString: $0) } ?? "no reason given"
            throw BusError(description: "no D-Bus system bus (\(reason)); install and start dbus")
        }
        self.connection = connection
        // The library would end the whole program when the bus goes away.
        dbus_connection_set_exit_on_disconnect(connection, 0)
        // Before any other call, so that the owner is known when the service answers.
        match(self.service.changes)
        call(self.service.question) { [weak self] in self?.service.takeOwner($0) }
    }

    deinit {
        registration?.cancel()
        dbus_connection_close(connection)
        dbus_connection_unref(connection)
    }

    package func open() {
        var descriptor: CInt = -1
        guard dbus_connection_get_unix_fd(connection, &descriptor) != 0 else { return }
        registration = host.whenReadable(descriptor) { [weak self] in self?.read() }
        // What came while connecting is in the library's queue already; the descriptor would not tell.
        read()
    }

    package func close() {
        registration?.cancel()
        registration = nil
    }

    package func match(_ rule: String) { dbus_bus_add_match(connection, rule, nil) }

    package func send(_ message: BusMessage?) {
        guard let message else { return }
        dbus_connection_send(connection, message.pointer, nil)
        // Into the socket's buffer; waits only if the bus has not read for hundreds of kilobytes.
        dbus_connection_flush(connection)
    }

    package func call(_ message: BusMessage?, _ answered: @escaping (BusMessage) -> Void) {
        guard let message else { return }
        // A call must not start its service (bluetoothd, Avahi): its administrator may have stopped it.
        dbus_message_set_auto_start(message.pointer, 0)
        var serial: UInt32 = 0
        guard dbus_connection_send(connection, message.pointer, &serial) != 0 else { return }
        pending[serial] = answered
        dbus_connection_flush(connection)
    }

    private func read() {
        let isOpen = dbus_connection_read_write(connection, 0) != 0
        while registration != nil, let pointer = dbus_connection_pop_message(connection) {
            let message = BusMessage(owning: pointer)
            // Any message can have the serial of a call in it; the bus itself checks that answers were asked for.
            if message.isAnswer {
                pending.removeValue(forKey: message.replySerial)?(message)
            } else if service.isSender(of: message) {
                onMessage?(message)
            }
        }
        if !isOpen, registration != nil {
            close()
            onClosed?()
        }
    }
}
