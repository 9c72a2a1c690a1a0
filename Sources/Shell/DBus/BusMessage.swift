import CDBus

/// The type codes of D-Bus that are used here (D-Bus Specification, "Type System").
package enum BusType {
    package static let none: CInt = 0
    package static let byte = CInt(UInt8(ascii: "y"))
    package static let boolean = CInt(UInt8(ascii: "b"))
    package static let int16 = CInt(UInt8(ascii: "n"))
    package static let uint16 = CInt(UInt8(ascii: "q"))
    package static let int32 = CInt(UInt8(ascii: "i"))
    package static let uint32 = CInt(UInt8(ascii: "u"))
    package static let string = CInt(UInt8(ascii: "s"))
    package static let path = CInt(UInt8(ascii: "o"))
    package static let array = CInt(UInt8(ascii: "a"))
    package static let variant = CInt(UInt8(ascii: "v"))
    package static let structure = CInt(UInt8(ascii: "r"))
    package static let dictionaryEntry = CInt(UInt8(ascii: "e"))
}

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

    /// Reads the arguments from the first on. The message must outlive it.
    package var reader: BusReader { BusReader(self) }

    /// Appends arguments.
    package func append(_ body: (inout BusWriter) -> Void) {
        var writer = BusWriter(self)
        body(&writer)
    }

    private func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }
}

/// Walks over the values of a message. A value of another type than asked for is nil, never a trap.
package struct BusReader {
    private var iterator = DBusMessageIter()
    /// Keeps the message alive for as long as it is read.
    private let message: BusMessage

    package init(_ message: BusMessage) {
        self.message = message
        _ = dbus_message_iter_init(message.pointer, &iterator)
    }

    private init(_ message: BusMessage, inside outer: BusReader) {
        self.message = message
        var outer = outer.iterator
        dbus_message_iter_recurse(&outer, &iterator)
    }

    package var type: CInt {
        var copy = iterator
        return dbus_message_iter_get_arg_type(&copy)
    }

    package mutating func next() { _ = dbus_message_iter_next(&iterator) }

    /// Into an array, a structure, a dictionary entry or a variant; nil if it is none.
    package var inside: BusReader? {
        let containers = [BusType.array, BusType.structure, BusType.dictionaryEntry, BusType.variant]
        return containers.contains(type) ? BusReader(message, inside: self) : nil
    }

    /// A string or an object path.
    package var string: String? {
        guard type == BusType.string || type == BusType.path else { return nil }
        var copy = iterator
        var value: UnsafePointer<CChar>?
        dbus_message_iter_get_basic(&copy, &value)
        return value.map { String(cString: $0) }
    }

    package var boolean: Bool? {
        guard type == BusType.boolean else { return nil }
        var copy = iterator
        var value: UInt32 = 0
        dbus_message_iter_get_basic(&copy, &value)
        return value != 0
    }

    package var int16: Int16? {
        guard type == BusType.int16 else { return nil }
        return number(Int16(0))
    }

    package var uint16: UInt16? {
        guard type == BusType.uint16 else { return nil }
        return number(UInt16(0))
    }

    package var int32: Int32? {
        guard type == BusType.int32 else { return nil }
        return number(Int32(0))
    }

    /// An array of bytes.
    package var bytes: [UInt8]? {
        guard type == BusType.array, var content = inside?.iterator,
            dbus_message_iter_get_arg_type(&content) == BusType.byte
        else { return nil }
        var start: UnsafePointer<UInt8>?
        var count: CInt = 0
        dbus_message_iter_get_fixed_array(&content, &start, &count)
        return Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }

    private func number<Number: FixedWidthInteger>(_ zero: Number) -> Number {
        var copy = iterator
        var value = zero
        dbus_message_iter_get_basic(&copy, &value)
        return value
    }

    /// Calls `body` with a reader at each element of the array that this is at.
    package func forEach(_ body: (BusReader) -> Void) {
        guard type == BusType.array, var element = inside else { return }
        while element.type != BusType.none {
            body(element)
            element.next()
        }
    }

    /// Calls `body` with the key and a reader at the value of each entry of a dictionary with text for keys. The
    /// value of a variant is the variant's content.
    package func forEachEntry(_ body: (_ key: String, _ value: BusReader) -> Void) {
        forEach { element in
            guard var entry = element.inside, let key = entry.string else { return }
            entry.next()
            body(key, entry.type == BusType.variant ? entry.inside ?? entry : entry)
        }
    }
}

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
