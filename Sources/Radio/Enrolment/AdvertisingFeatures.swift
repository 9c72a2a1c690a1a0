/// The answer to Read Advertising Features.
struct AdvertisingFeatures: Hashable {
    /// The numbers that have no advertisement, in their order.
    let free: [UInt8]

    /// Flags (4), lengths (2), how many advertisements there can be, how many there are, and their numbers.
    ///
    /// - Returns: nil if it is too short.
    init?(_ result: [UInt8]) {
        guard result.count >= 8 else { return nil }
        let used = result.dropFirst(8)
        free = result[6] == 0 ? [] : (1...result[6]).filter { !used.contains($0) }
    }
}
