import CDBus

/// The type codes of D-Bus that are used here (D-Bus Specification, "Type System").
enum BusType {
    static let none: CInt = 0
    static let byte = CInt(UInt8(ascii: "y"))
    static let boolean = CInt(UInt8(ascii: "b"))
    static let int16 = CInt(UInt8(ascii: "n"))
    static let uint16 = CInt(UInt8(ascii: "q"))
    static let string = CInt(UInt8(ascii: "s"))
    static let path = CInt(UInt8(ascii: "o"))
    static let array = CInt(UInt8(ascii: "a"))
    static let variant = CInt(UInt8(ascii: "v"))
    static let structure = CInt(UInt8(ascii: "r"))
    static let dictionaryEntry = CInt(UInt8(ascii: "e"))
}

/// A D-Bus message. Owns one reference to it.
final class BusMessage {
    let pointer: OpaquePointer

    /// Takes over a reference that the library has given.
    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit { dbus_message_unref(pointer) }

    /// - Returns: nil without memory, or for names that D-Bus does not allow.
    static func call(_ destination: String, _ path: String, _ interface: String, _ member: String) -> BusMessage? {
        dbus_message_new_method_call(destination, path, interface, member).map(BusMessage.init(owning:))
    }

    func reply() -> BusMessage? { dbus_message_new_method_return(pointer).map(BusMessage.init(owning:)) }

    func error(_ name: String, _ text: String) -> BusMessage? {
        dbus_message_new_error(pointer, name, text).map(BusMessage.init(owning:))
    }

    var isCall: Bool { dbus_message_get_type(pointer) == DBUS_MESSAGE_TYPE_METHOD_CALL }
    var isSignal: Bool { dbus_message_get_type(pointer) == DBUS_MESSAGE_TYPE_SIGNAL }
    var isError: Bool { dbus_message_get_type(pointer) == DBUS_MESSAGE_TYPE_ERROR }
    var replySerial: UInt32 { dbus_message_get_reply_serial(pointer) }
    var interface: String { text(dbus_message_get_interface(pointer)) }
    var member: String { text(dbus_message_get_member(pointer)) }
    var path: String { text(dbus_message_get_path(pointer)) }
    var sender: String { text(dbus_message_get_sender(pointer)) }
    /// The error's name, and what it says.
    var errorText: String {
        let name = text(dbus_message_get_error_name(pointer))
        guard let words = reader.string else { return name }
        return "\(name): \(words)"
    }
    var errorName: String { text(dbus_message_get_error_name(pointer)) }

    /// Reads the arguments from the first on. The message must outlive it.
    var reader: BusReader { BusReader(self) }

    /// Appends arguments.
    func append(_ body: (inout BusWriter) -> Void) {
        var writer = BusWriter(self)
        body(&writer)
    }

    private func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }
}

/// Walks over the values of a message. A value of another type than asked for is nil, never a trap.
struct BusReader {
    private var iterator = DBusMessageIter()
    /// Keeps the message alive for as long as it is read.
    private let message: BusMessage

    init(_ message: BusMessage) {
        self.message = message
        _ = dbus_message_iter_init(message.pointer, &iterator)
    }

    private init(_ message: BusMessage, inside outer: BusReader) {
        self.message = message
        var outer = outer.iterator
        dbus_message_iter_recurse(&outer, &iterator)
    }

    var type: CInt {
        var copy = iterator
        return dbus_message_iter_get_arg_type(&copy)
    }

    mutating func next() { _ = dbus_message_iter_next(&iterator) }

    /// Into an array, a structure, a dictionary entry or a variant; nil if it is none.
    var inside: BusReader? {
        let containers = [BusType.array, BusType.structure, BusType.dictionaryEntry, BusType.variant]
        return containers.contains(type) ? BusReader(message, inside: self) : nil
    }

    /// A string or an object path.
    var string: String? {
        guard type == BusType.string || type == BusType.path else { return nil }
        var copy = iterator
        var value: UnsafePointer<CChar>?
        dbus_message_iter_get_basic(&copy, &value)
        return value.map { String(cString: $0) }
    }

    var boolean: Bool? {
        guard type == BusType.boolean else { return nil }
        var copy = iterator
        var value: UInt32 = 0
        dbus_message_iter_get_basic(&copy, &value)
        return value != 0
    }

    var int16: Int16? {
        guard type == BusType.int16 else { return nil }
        return number(Int16(0))
    }

    var uint16: UInt16? {
        guard type == BusType.uint16 else { return nil }
        return number(UInt16(0))
    }

    /// An array of bytes.
    var bytes: [UInt8]? {
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
    func forEach(_ body: (BusReader) -> Void) {
        guard type == BusType.array, var element = inside else { return }
        while element.type != BusType.none {
            body(element)
            element.next()
        }
    }

    /// Calls `body` with the key and a reader at the value of each entry of a dictionary with text for keys. The
    /// value of a variant is the variant's content.
    func forEachEntry(_ body: (_ key: String, _ value: BusReader) -> Void) {
        forEach { element in
            guard var entry = element.inside, let key = entry.string else { return }
            entry.next()
            body(key, entry.type == BusType.variant ? entry.inside ?? entry : entry)
        }
    }
}

/// Appends values to a message.
struct BusWriter {
    private var iterator = DBusMessageIter()

    init(_ message: BusMessage) { dbus_message_iter_init_append(message.pointer, &iterator) }

    private init() {}

    mutating func string(_ value: String) { text(value, BusType.string) }
    mutating func path(_ value: String) { text(value, BusType.path) }

    mutating func boolean(_ value: Bool) {
        var number: UInt32 = value ? 1 : 0
        dbus_message_iter_append_basic(&iterator, BusType.boolean, &number)
    }

    mutating func byte(_ value: UInt8) {
        var value = value
        dbus_message_iter_append_basic(&iterator, BusType.byte, &value)
    }

    mutating func int16(_ value: Int16) {
        var value = value
        dbus_message_iter_append_basic(&iterator, BusType.int16, &value)
    }

    mutating func uint16(_ value: UInt16) {
        var value = value
        dbus_message_iter_append_basic(&iterator, BusType.uint16, &value)
    }

    /// Opens a container, lets `body` fill it, and closes it.
    ///
    /// - Parameter signature: of what is inside; nil for structures and dictionary entries.
    mutating func container(_ type: CInt, _ signature: String?, _ body: (inout BusWriter) -> Void) {
        var inner = BusWriter()
        dbus_message_iter_open_container(&iterator, type, signature, &inner.iterator)
        body(&inner)
        dbus_message_iter_close_container(&iterator, &inner.iterator)
    }

    /// One entry of a dictionary from text to variants.
    mutating func property(_ name: String, _ signature: String, _ body: (inout BusWriter) -> Void) {
        container(BusType.dictionaryEntry, nil) { entry in
            entry.string(name)
            entry.container(BusType.variant, signature, body)
        }
    }

    private mutating func text(_ value: String, _ type: CInt) {
        value.withCString { pointer in
            var pointer: UnsafePointer<CChar>? = pointer
            _ = dbus_message_iter_append_basic(&iterator, type, &pointer)
        }
    }
}
