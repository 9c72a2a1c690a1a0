import CDBus

/// Appends values to a message.
package struct BusWriter {
    private var iterator = DBusMessageIter()

    package init(_ message: BusMessage) { dbus_message_iter_init_append(message.pointer, &iterator) }

    private init() {}

    package mutating func string(_ value: String) { text(value, BusType.string) }
    package mutating func path(_ value: String) { text(value, BusType.path) }

    package mutating func boolean(_ value: Bool) { number(UInt32(value ? 1 : 0), BusType.boolean) }
    package mutating func byte(_ value: UInt8) { number(value, BusType.byte) }
    package mutating func int16(_ value: Int16) { number(value, BusType.int16) }
    package mutating func uint16(_ value: UInt16) { number(value, BusType.uint16) }
    package mutating func int32(_ value: Int32) { number(value, BusType.int32) }
    package mutating func uint32(_ value: UInt32) { number(value, BusType.uint32) }

    /// Opens a container, lets `body` fill it, and closes it.
    ///
    /// - Parameter signature: of what is inside; nil for structures and dictionary entries.
    package mutating func container(_ type: CInt, _ signature: String?, _ body: (inout BusWriter) -> Void) {
        var inner = BusWriter()
        dbus_message_iter_open_container(&iterator, type, signature, &inner.iterator)
        body(&inner)
        dbus_message_iter_close_container(&iterator, &inner.iterator)
    }

    /// One entry of a dictionary from text to variants.
    package mutating func property(_ name: String, _ signature: String, _ body: (inout BusWriter) -> Void) {
        container(BusType.dictionaryEntry, nil) { entry in
            entry.string(name)
            entry.container(BusType.variant, signature, body)
        }
    }

    /// One object with one interface, as an entry of an answer to GetManagedObjects.
    package mutating func object(
        _ path: String, _ interface: String, _ properties: (inout BusWriter) -> Void
    ) {
        container(BusType.dictionaryEntry, nil) { object in
            object.path(path)
            object.container(BusType.array, "{sa{sv}}") { interfaces in
                interfaces.container(BusType.dictionaryEntry, nil) { entry in
                    entry.string(interface)
                    entry.container(BusType.array, "{sv}", properties)
                }
            }
        }
    }

    private mutating func number(_ value: some FixedWidthInteger, _ type: CInt) {
        var value = value
        dbus_message_iter_append_basic(&iterator, type, &value)
    }

    private mutating func text(_ value: String, _ type: CInt) {
        value.withCString { pointer in
            var pointer: UnsafePointer<CChar>? = pointer
            _ = dbus_message_iter_append_basic(&iterator, type, &pointer)
        }
    }
}
