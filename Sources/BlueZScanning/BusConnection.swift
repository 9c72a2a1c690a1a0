import Base
import Beacon
import CDBus
import Scanning

/// A connection of our own to the system bus, on the host's loop. Owns it and closes it.
///
/// Messages are taken from the connection one by one instead of by the library's dispatch, so there are no C
/// callbacks. Nothing waits for an answer: an answer is a message like others, with the serial of its call.
final class BusConnection: MessageBus {
    private let connection: OpaquePointer
    private let host: any EventHost
    private var token: (any EventRegistration)?
    private var pending: [UInt32: (BusMessage) -> Void] = [:]
    var onMessage: ((BusMessage) -> Void)?
    var onClosed: (() -> Void)?

    /// - Throws: `ScannerError` if there is no system bus.
    init(host: any EventHost) throws(ScannerError) {
        self.host = host
        var error = DBusError()
        dbus_error_init(&error)
        defer { dbus_error_free(&error) }
        guard let connection = dbus_bus_get_private(DBUS_BUS_SYSTEM, &error) else {
            let reason = error.message.map { String(cString: $0) } ?? "no reason given"
            throw ScannerError(.unavailable, "no D-Bus system bus (\(reason)); install and start dbus")
        }
        self.connection = connection
        // The library would end the whole program when the bus goes away.
        dbus_connection_set_exit_on_disconnect(connection, 0)
    }

    deinit {
        token?.cancel()
        dbus_connection_close(connection)
        dbus_connection_unref(connection)
    }

    func open() {
        var descriptor: CInt = -1
        guard dbus_connection_get_unix_fd(connection, &descriptor) != 0 else { return }
        token = host.whenReadable(descriptor) { [weak self] in self?.read() }
        // What came while connecting is in the library's queue already; the descriptor would not tell.
        read()
    }

    func close() {
        token?.cancel()
        token = nil
    }

    func match(_ rule: String) { dbus_bus_add_match(connection, rule, nil) }

    func send(_ message: BusMessage?) {
        guard let message else { return }
        dbus_connection_send(connection, message.pointer, nil)
        // Into the socket's buffer; waits only if the bus has not read for hundreds of kilobytes.
        dbus_connection_flush(connection)
    }

    func call(_ message: BusMessage?, _ answered: @escaping (BusMessage) -> Void) {
        guard let message else { return }
        // bluetoothd is not to be started by asking it something: who stopped it meant it.
        dbus_message_set_auto_start(message.pointer, 0)
        var serial: UInt32 = 0
        guard dbus_connection_send(connection, message.pointer, &serial) != 0 else { return }
        pending[serial] = answered
        dbus_connection_flush(connection)
    }

    private func read() {
        let isOpen = dbus_connection_read_write(connection, 0) != 0
        while token != nil, let pointer = dbus_connection_pop_message(connection) {
            let message = BusMessage(owning: pointer)
            if let answered = pending.removeValue(forKey: message.replySerial) {
                answered(message)
            } else {
                onMessage?(message)
            }
        }
        if !isOpen, token != nil {
            close()
            onClosed?()
        }
    }
}
