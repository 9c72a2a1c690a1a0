import Base
package import Beacon

/// What names an advertiser that is no iBeacon, and is no secret.
///
/// A region of an identity listens for the UUID that is derived from it, so that presence, rooms, messages and pages know
/// iBeacons only.
package enum Identity: Hashable, Sendable, BitwiseCopyable {
    /// A public or static random address (Core Specification 5.4, Vol 6, Part B, 1.3): six octets as one number, the one
    /// that is printed first highest.
    case address(UInt64)
    /// An Eddystone-UID: ten bytes of namespace, then six of instance.
    case eddystone(BeaconUUID)
    /// All Eddystone-UIDs of a namespace: its ten bytes, then zeros.
    case eddystoneSpace(BeaconUUID)
    /// The first 16 bytes of an AltBeacon's identifier. The other four are the major and the minor.
    case altBeacon(BeaconUUID)

    /// The name in descriptions of regions.
    package var kind: Kind {
        switch self {
        case .address: .mac
        case .eddystone, .eddystoneSpace: .eddystone
        case .altBeacon: .altbeacon
        }
    }

    /// The words that follow the name in `Bike:mac:…`.
    package enum Kind: String, CaseIterable, Sendable {
        case mac, eddystone, altbeacon, irk

        /// Reads the word in any case.
        package init?(word: some StringProtocol) { self.init(rawValue: word.lowercased()) }
    }

    /// The UUID for which a region of this identity listens.
    package var uuid: BeaconUUID { derivedUUID(of: text) }

    /// The identity as `init(_:)` reads it, which is also what the UUID is derived from: `mac:C0:FF:EE:00:00:01`,
    /// `eddystone:00112233445566778899:AABBCCDDEEFF`, `eddystone:00112233445566778899`, `altbeacon:UUID`.
    package var text: String {
        switch self {
        case .address(let value): "\(kind.rawValue):\(DeviceAddress(value: value, isRandom: false))"
        case .altBeacon(let uuid): "\(kind.rawValue):\(uuid)"
        case .eddystone(let bytes):
            "\(Self.eddystoneSpace(bytes).text):"
                + hexadecimal(bytes.low & 0xffff_ffff_ffff, digits: 12, isUppercase: true)
        case .eddystoneSpace(let bytes):
            "\(kind.rawValue):\(hexadecimal(bytes.high, digits: 16, isUppercase: true))"
                + hexadecimal(bytes.low >> 48, digits: 4, isUppercase: true)
        }
    }

    /// The namespace of an Eddystone-UID; nil for anything else.
    var space: Identity? {
        guard case .eddystone(let bytes) = self else { return nil }
        return .eddystoneSpace(BeaconUUID(high: bytes.high, low: bytes.low & 0xffff_0000_0000_0000))
    }
}

extension Identity {
    /// Reads an identity from the parts of a description.
    ///
    /// - Parameters:
    ///   - kind: The part after the name.
    ///   - parts: The parts after the kind. Those that belong to the identity are removed.
    package init(_ kind: Kind, takingFrom parts: inout ArraySlice<Substring>) throws(IdentityError) {
        let all = parts.joined(separator: ":")
        func digits(_ text: some StringProtocol, _ count: Int) -> (high: UInt64, low: UInt64)? {
            guard text.utf8.count == count else { return nil }
            var number: (high: UInt64, low: UInt64) = (0, 0)
            for byte in text.utf8 {
                guard let digit = hexadecimalValue(of: byte) else { return nil }
                number = (number.high << 4 | number.low >> 60, number.low << 4 | UInt64(digit))
            }
            return number
        }
        switch kind {
        case .mac:
            // Twelve digits, or pairs with a colon or a dash between them.
            let isSplit = parts.count > 1
            let octets = isSplit ? Array(parts) : (parts.first ?? "").split(separator: "-")
            guard octets.count == 1 || octets.count == 6 && octets.allSatisfy({ $0.utf8.count == 2 }),
                let value = digits(octets.joined(), 12)
            else { throw .invalidAddress(all.shortened) }
            self = .address(value.low)
            parts = []
        case .eddystone:
            // An empty instance is any, as an empty number is.
            let isSpace = parts.dropFirst().allSatisfy(\.isEmpty)
            guard parts.count <= 2, let first = parts.first, digits(first, 20) != nil,
                let last = isSpace ? "000000000000" : parts.last, let value = digits(first + last, 32)
            else { throw .invalidEddystone(all.shortened) }
            let bytes = BeaconUUID(high: value.high, low: value.low)
            self = isSpace ? .eddystoneSpace(bytes) : .eddystone(bytes)
            parts = []
        case .altbeacon:
            guard let first = parts.popFirst(), let uuid = BeaconUUID(first) else { throw .invalidUUID(all.shortened) }
            self = .altBeacon(uuid)
        case .irk: throw .key
        }
    }

    /// Reads the form of `text`.
    ///
    /// - Returns: nil for anything else.
    package init?(_ text: String) {
        guard text.utf8.count <= 80 else { return nil }
        var parts = text.split(separator: ":", omittingEmptySubsequences: false)[...]
        guard let word = parts.popFirst(), let kind = Kind(word: word),
            let identity = try? Identity(kind, takingFrom: &parts), parts.isEmpty
        else { return nil }
        self = identity
    }
}

extension DeviceAddress {
    /// The identity, if the address stays the same: a public or a static random one.
    package var identity: Identity? { isRandom && value >> 46 != 0b11 ? nil : .address(value) }

    /// What kind of address it is (Core Specification 5.4, Vol 6, Part B, 1.3), in words for a table.
    package var kind: String {
        guard isRandom else { return "public address" }
        return switch value >> 46 {
        case 0b00: "non-resolvable private address"
        case 0b01: "phone, private address"
        case 0b11: "fixed address"
        default: "reserved address"
        }
    }
}

extension BeaconUUID {
    /// Whether it is of version 5, as those of phones and other identities are. The UUIDs of beacons hardly ever are.
    package var isDerived: Bool { high >> 12 & 0xf == 5 }
}

/// The UUID of version 5 (RFC 9562, 5.5) in the project's namespace: other programs find the same one.
package func derivedUUID(of name: String) -> BeaconUUID {
    // Random, once for all times.
    let namespace: [UInt8] = [
        0x0b, 0x87, 0xd8, 0xb3, 0xee, 0xd6, 0x4b, 0xff, 0x9d, 0xaa, 0x54, 0x32, 0x6b, 0xac, 0xec, 0x6a,
    ]
    let words = SHA1.digest(of: namespace + name.utf8).map { UInt64($0) }
    let high = words[0] << 32 | words[1]
    let low = words[2] << 32 | words[3]
    return BeaconUUID(
        high: high & ~0xf000 | 0x5000, low: low & ~0xc000_0000_0000_0000 | 0x8000_0000_0000_0000)
}
