import Base

/// The pre-shared key of a proxy. It is shown nowhere.
package struct ProxyKey: Hashable, Sendable {
    let bytes: [UInt8]

    /// - Parameter bytes: 32 bytes, not all zero: with that key Home Assistant asks whether a device has none.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == NoiseHandshake.keyLength, bytes.contains(where: { $0 != 0 }) else { return nil }
        self.bytes = bytes
    }
}

extension ProxyKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { Secret.mask }
    package var debugDescription: String { Secret.mask }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
