import CDBus

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
