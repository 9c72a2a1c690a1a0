import CDBus

/// A D-Bus message. Owns one reference to it.
package final class BusMessage {
    package let pointer: OpaquePointer

    /// Takes over a reference that the library has given.
    package init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit { dbus_message_unref(pointer) }

    /// - Returns: nil without memory, or for names that D-Bus does not allow.
    package static func call(_ destination: String, _ path: String, _ interface: String, _ member: String)
        -> BusMessage?
    {
        dbus_message_new_method_call(destination, path, interface, member).map(BusMessage.init(owning:))
    }

    package func reply() -> BusMessage? { dbus_message_new_method_return(pointer).map(BusMessage.init(owning:)) }

    package func error(_ name: String, _ text: String) -> BusMessage? {
        dbus_message_new_error(pointer, name, text).map(BusMessage.init(owning:))
    }

    package var isCall: Bool { dbus_message_get_type(pointer) == DBUS_MESSAGE_TYPE_METHOD_CALL }
    package var isSignal: Bool { dbus_message_get_type(pointer) == DBUS_MESSAGE_TYPE_SIGNAL }
    package var isError: Bool { dbus_message_get_type(pointer) == DBUS_MESSAGE_TYPE_ERROR }
    /// Whether it answers a call, with a result or an error.
    package var isAnswer: Bool { dbus_message_get_type(pointer) == DBUS_MESSAGE_TYPE_METHOD_RETURN || isError }
    package var replySerial: UInt32 { dbus_message_get_reply_serial(pointer) }
    package var interface: String { text(dbus_message_get_interface(pointer)) }
    package var member: String { text(dbus_message_get_member(pointer)) }
    package var path: String { text(dbus_message_get_path(pointer)) }
    package var sender: String { text(dbus_message_get_sender(pointer)) }
    /// The error's name, and what it says.
    package var errorText: String {
        let name = text(dbus_message_get_error_name(pointer))
        guard let words = reader.string else { return name }
        return "\(name): \(words)"
    }
    package var errorName: String { text(dbus_message_get_error_name(pointer)) }
    /// Whether it is the bus's answer that no program has the name that was called.
    package var isOfNoOwner: Bool { errorName.hasSuffix("NameHasNoOwner") || errorName.hasSuffix("ServiceUnknown") }

    /// Reads the arguments from the first on. The message must outlive it.
    package var reader: BusReader { BusReader(self) }

    /// Appends arguments.
    package func append(_ body: (inout BusWriter) -> Void) {
        var writer = BusWriter(self)
        body(&writer)
    }

    private func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }
}
