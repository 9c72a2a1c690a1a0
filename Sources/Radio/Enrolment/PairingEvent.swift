import Beacon
import Identities

/// What the management interface says of pairings.
enum PairingEvent: Hashable {
    case connected(DeviceAddress)
    case disconnected(DeviceAddress)
    /// Somebody must agree.
    case question(DeviceAddress)
    case failed(DeviceAddress, status: UInt8)
    /// There is a key of the connection. It comes after the key of the identity.
    case paired(DeviceAddress)
    /// - Parameter key: nil for the zeros of a device that has none.
    case identity(of: DeviceAddress, DeviceAddress, key: IdentityKey?)

    /// - Returns: nil for an event of another kind, of a device that is not Low Energy, or with too few parameters.
    init?(code: UInt16, parameters: Span<UInt8>) {
        switch code {
        case 0x000b: self.init(parameters, 0) { .connected($0) }
        case 0x000c: self.init(parameters, 0) { .disconnected($0) }
        case 0x000f: self.init(parameters, 0) { .question($0) }
        case 0x0011 where parameters.count >= 8:
            let status = parameters[7]
            self.init(parameters, 0) { .failed($0, status: status) }
        // A hint whether to store it, the device, …
        case 0x000a: self.init(parameters, 1) { .paired($0) }
        // A hint whether to store it, the private address, the identity with its type, the key.
        case 0x0018 where parameters.count >= 30:
            guard let address = DeviceAddress(littleEndian: parameters, at: 1, isRandom: true) else { return nil }
            // The kernel has the least significant octet first.
            let octets = (0..<16).map { UInt64(parameters[29 - $0]) }
            let (high, low) = (octets[..<8].reduce(0) { $0 << 8 | $1 }, octets[8...].reduce(0) { $0 << 8 | $1 })
            let key = high | low == 0 ? nil : IdentityKey(high: high, low: low)
            self.init(parameters, 7) { .identity(of: address, $0, key: key) }
        default: return nil
        }
    }

    /// Reads a device at `offset`.
    private init?(_ parameters: Span<UInt8>, _ offset: Int, _ make: (DeviceAddress) -> PairingEvent) {
        guard parameters.count >= offset + 7, 1...2 ~= parameters[offset + 6],
            let device = DeviceAddress(littleEndian: parameters, at: offset, isRandom: parameters[offset + 6] == 2)
        else { return nil }
        self = make(device)
    }
}
