package import Beacon

/// Which adapters a scanner may use.
package enum AdapterSelection: Hashable, Sendable {
    /// Every adapter that can do Bluetooth Low Energy, now or later.
    case all
    /// `hci` and a number.
    case index(UInt16)
    /// By its own address, which stays when the number changes.
    case address(UInt64)
    /// Every adapter that any of these selects.
    case anyOf([AdapterSelection])

    /// Reads `all`, `hci0`, or six octets with colons.
    ///
    /// - Returns: nil for anything else.
    package init?(_ text: String) {
        if text == "all" {
            self = .all
        } else if text.hasPrefix("hci"), let index = UInt16(text.dropFirst(3)) {
            self = .index(index)
        } else {
            let octets = text.split(separator: ":", omittingEmptySubsequences: false)
            guard octets.count == 6, octets.allSatisfy({ $0.utf8.count == 2 }) else { return nil }
            guard let value = UInt64(octets.joined(), radix: 16) else { return nil }
            self = .address(value)
        }
    }

    package func includes(index: UInt16, address: DeviceAddress) -> Bool {
        switch self {
        case .all: true
        case .index(let wanted): wanted == index
        case .address(let wanted): wanted == address.value
        case .anyOf(let selections): selections.contains { $0.includes(index: index, address: address) }
        }
    }
}
