/// The walk over AD structures (Core Specification 5.4, Vol 3, Part C, 11): length, type, content.
///
/// It ends where BlueZ ends it: at a zero length (early termination) or at a structure that runs past the end of the
/// data. The structures before it are valid.
package enum AdvertisingData {
    /// AD type "Manufacturer Specific Data" (Assigned Numbers, 2.3).
    package static let manufacturerSpecificData: UInt8 = 0xff
    /// AD type "Service Data - 16-bit UUID".
    package static let serviceData16: UInt8 = 0x16
    /// AD types "Shortened" and "Complete Local Name".
    package static let localNames: ClosedRange<UInt8> = 0x08...0x09

    /// Calls `body` with the type and the content of each whole structure until it returns false.
    ///
    /// - Returns: false if a structure ran past the end of the data.
    @discardableResult
    package static func forEachStructure(
        in data: Span<UInt8>, _ body: (_ type: UInt8, _ content: Span<UInt8>) -> Bool
    ) -> Bool {
        var offset = 0
        // A last lone byte cannot hold a structure: a type must follow the length.
        while offset < data.count - 1 {
            let length = Int(data[offset])
            guard length > 0 else { return true }
            let end = offset + 1 + length
            guard end <= data.count else { return false }
            guard body(data[offset + 1], data.extracting(offset + 2..<end)) else { return true }
            offset = end
        }
        return true
    }
}
