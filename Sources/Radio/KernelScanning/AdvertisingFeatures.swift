/// The answer to Read Advertising Features.
package struct AdvertisingFeatures: Hashable, Sendable {
    /// Numbers of advertisements as the kernel lists them. Linux 6.1 lists none above their count.
    package let used: [UInt8]
    /// The numbers that have no advertisement, in their order.
    package let free: [UInt8]
    /// Whether the controller has advertising sets, each with an interval of its own. Without them the kernel lets its
    /// advertisements take turns, and chooses their interval.
    package let hasSets: Bool

    /// A secondary advertising channel (bit 7), which the kernel offers where the controller has advertising sets, and an
    /// interval for each advertisement (bit 14).
    private static let flagsOfSets: UInt32 = 1 << 7 | 1 << 14

    /// Flags (4), lengths (2), how many advertisements there can be, how many there are, and their numbers.
    ///
    /// - Returns: nil if it is too short.
    package init?(_ result: [UInt8]) {
        guard result.count >= 8, let flags = result.span.littleEndian32(at: 0) else { return nil }
        let used = Array(result.dropFirst(8))
        self.used = used
        free = result[6] == 0 ? [] : (1...result[6]).filter { !used.contains($0) }
        hasSets = flags & Self.flagsOfSets == Self.flagsOfSets
    }
}
