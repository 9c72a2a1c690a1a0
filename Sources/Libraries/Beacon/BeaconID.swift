/// The identity of an iBeacon. It never includes the address, which rotates.
public struct BeaconID: Hashable, Sendable, BitwiseCopyable {
    /// The UUID that beacons of one owner share.
    public let uuid: BeaconUUID
    /// The group within the UUID.
    public let major: UInt16
    /// The beacon within the group.
    public let minor: UInt16

    /// The beacon with these numbers.
    public init(uuid: BeaconUUID, major: UInt16, minor: UInt16) {
        self.uuid = uuid
        self.major = major
        self.minor = minor
    }
}

extension BeaconID {
    /// Reads `UUID:major:minor`, the form of `description`. This is its only parser; tests compare `HeardScanner` with
    /// it, which reads the same form without allocating.
    ///
    /// - Parameters:
    ///   - text: At most 64 bytes; the numbers are decimal.
    ///   - separator: ESPresense separates the numbers by `-`.
    /// - Returns: nil for any other text.
    public init?(_ text: some StringProtocol, separator: Character = ":") {
        // A UUID may contain the separator, so the numbers are cut off from the end.
        guard text.utf8.count <= 64, let end = text.lastIndex(of: separator),
            let begin = text[..<end].lastIndex(of: separator), let uuid = BeaconUUID(text[..<begin]),
            let major = UInt16(text[text.index(after: begin)..<end]), let minor = UInt16(text[end...].dropFirst())
        else { return nil }
        self.init(uuid: uuid, major: major, minor: minor)
    }
}

extension BeaconID: CustomStringConvertible {
    /// `UUID:major:minor`, the numbers decimal.
    public var description: String {
        "\(uuid):\(major):\(minor)"
    }
}
