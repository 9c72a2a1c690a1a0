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
