import CDBus
package import DBus

/// A bus whose every message the test writes.
package final class ScriptedBus: MessageBus {
    package var onMessage: ((BusMessage) -> Void)?
    package var onClosed: (() -> Void)?
    package private(set) var isOpen = false
    /// What was sent without a wait for an answer: replies, errors, and calls that need none.
    package private(set) var sent: [BusMessage] = []
    private var pending: [(call: BusMessage, answered: (BusMessage) -> Void)] = []
    private var serial: UInt32 = 0
    /// As the test says, because the bus has no clock.
    package var longestWait: Duration?

    package init() {}

    package func open() { isOpen = true }
    package func close() { isOpen = false }
    package func match(_ rule: String) {}
    package func send(_ message: BusMessage?) { if let message { sent.append(message) } }

    package func call(_ message: BusMessage?, _ answered: @escaping (BusMessage) -> Void) {
        guard let message else { return }
        serial += 1
        dbus_message_set_serial(message.pointer, serial)
        pending.append((message, answered))
    }

    /// Calls that wait for an answer, in their order: `StartDiscovery hci0`.
    package var calls: [String] {
        pending.map { call, _ in
            let adapter = call.path.split(separator: "/").last.map { " \($0)" } ?? ""
            return call.member + adapter
        }
    }

    /// The first argument of each waiting call of this member, if that is a path or a string.
    package func roots(of member: String) -> [String] {
        pending.compactMap { $0.call.member == member ? $0.call.reader.string : nil }
    }

    /// The dictionary of the oldest waiting call of this member, its values in words.
    package func dictionary(of member: String) -> [String: String] {
        var found: [String: String] = [:]
        pending.first { $0.call.member == member }?.call.reader.forEachEntry { name, value in
            found[name] = value.string ?? value.boolean.map { "\($0)" } ?? value.int16.map { "\($0)" }
        }
        return found
    }

    /// Answers the oldest call of this member, of this adapter if it matters.
    package func answer(_ member: String, of path: String? = nil, _ body: (inout BusWriter) -> Void = { _ in }) {
        reply(member, path) { call in
            let reply = call.reply()
            reply?.append(body)
            return reply
        }
    }

    /// Answers the oldest call of this member with an error.
    package func refuse(_ member: String, of path: String? = nil, with name: String = "org.bluez.Error.Failed") {
        reply(member, path) { $0.error(name, "no") }
    }

    private func reply(_ member: String, _ path: String?, _ make: (BusMessage) -> BusMessage?) {
        let place = pending.firstIndex { $0.call.member == member && (path == nil || $0.call.path == path) }
        guard let place, let reply = make(pending[place].call) else { return }
        let answered = pending.remove(at: place).answered
        answered(reply)
    }

    /// A signal of a service of the bus.
    package func signal(_ path: String, _ interface: String, _ member: String, _ body: (inout BusWriter) -> Void) {
        guard let pointer = dbus_message_new_signal(path, interface, member) else { return }
        let message = BusMessage(owning: pointer)
        message.append(body)
        onMessage?(message)
    }

    /// A service of the bus calls an object of ours.
    package func call(of path: String, _ interface: String, _ member: String, _ body: (inout BusWriter) -> Void) {
        guard let message = BusMessage.call(":1.1", path, interface, member) else { return }
        serial += 1
        dbus_message_set_serial(message.pointer, serial)
        message.append(body)
        onMessage?(message)
    }

    /// The connection ends.
    package func breaks() {
        isOpen = false
        onClosed?()
    }
}
