/// An address of the Internet protocol. An IPv4 address is the IPv6 address into which it is mapped (RFC 4291, 2.5.5.2), so that
/// both forms in which a socket shows a peer are equal.
package struct InternetAddress: Hashable, Sendable {
    /// The 16 octets, the first in the highest bits of `high`.
    let high: UInt64
    let low: UInt64

    private static let mapped: UInt64 = 0xffff_0000_0000

    private init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    /// - Parameter ipv4: The first octet in the highest bits.
    package init(ipv4: UInt32) { self.init(high: 0, low: Self.mapped | UInt64(ipv4)) }

    /// An address in figures, such as `192.168.1.2` or `fe80::1`. What follows a `%` names an interface and is no part of it.
    package init?(_ text: String) {
        let figures = text.prefix { $0 != "%" }
        guard figures.contains(":") else {
            guard let ipv4 = Self.ipv4(figures) else { return nil }
            self.init(ipv4: ipv4)
            return
        }
        guard let groups = Self.groups(figures) else { return nil }
        self.init(high: Self.word(groups[0..<4]), low: Self.word(groups[4..<8]))
    }

    /// 32 hexadecimal digits.
    init?(hexadecimal digits: Substring) {
        guard digits.utf8.count == 32, let high = UInt64(digits.prefix(16), radix: 16),
            let low = UInt64(digits.suffix(16), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }

    package var isIPv4: Bool { high == 0 && low >> 32 == Self.mapped >> 32 }

    /// `127.0.0.0/8` or `::1`.
    var isLoopback: Bool { isIPv4 ? low >> 24 & 0xff == 127 : high == 0 && low == 1 }

    /// `fe80::/10`. The same address can be at every interface.
    var isLinkLocal: Bool { high >> 54 == 0xfe80 >> 6 }

    /// Whether the first bits are those of another address.
    ///
    /// - Parameter length: How many, 0 to 128; of IPv4 96 more than usual.
    func has(_ length: Int, bitsOf other: InternetAddress) -> Bool {
        let highMask = length >= 64 ? UInt64.max : ~(UInt64.max >> UInt64(length))
        let lowMask = length <= 64 ? 0 : ~(UInt64.max >> UInt64(length - 64))
        return (high ^ other.high) & highMask == 0 && (low ^ other.low) & lowMask == 0
    }

    private static func word(_ groups: ArraySlice<UInt16>) -> UInt64 {
        groups.reduce(UInt64(0)) { $0 << 16 | UInt64($1) }
    }

    private static func ipv4(_ text: Substring) -> UInt32? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var value: UInt32 = 0
        for part in parts {
            guard part.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let octet = UInt8(part) else { return nil }
            value = value << 8 | UInt32(octet)
        }
        return value
    }

    /// The eight groups of an IPv6 address, of which one run of zeros may be left out.
    private static func groups(_ text: Substring) -> [UInt16]? {
        var (before, after): ([UInt16], [UInt16]) = ([], [])
        var hasGap = false
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            if part.isEmpty {
                // At either end the gap shows as two empty parts.
                let isEnd = index == 0 && parts.count > 2 && parts[1].isEmpty
                if isEnd || isLast && hasGap && index > 1 && parts[index - 1].isEmpty { continue }
                guard !hasGap, index > 0, !isLast || index == 1 else { return nil }
                hasGap = true
                continue
            }
            guard let read = group(part, isLast: isLast) else { return nil }
            if hasGap { after += read } else { before += read }
        }
        let missing = 8 - before.count - after.count
        guard hasGap ? missing > 0 : missing == 0 else { return nil }
        return before + [UInt16](repeating: 0, count: missing) + after
    }

    private static func group(_ part: Substring, isLast: Bool) -> [UInt16]? {
        if isLast, part.contains(".") {
            return ipv4(part).map { [UInt16($0 >> 16), UInt16($0 & 0xffff)] }
        }
        guard part.utf8.count <= 4, part.allSatisfy(\.isHexDigit), let value = UInt16(part, radix: 16) else {
            return nil
        }
        return [value]
    }
}

extension InternetAddress: CustomStringConvertible {
    /// As people write it. Of an IPv6 address all groups are there.
    package var description: String {
        guard !isIPv4 else {
            return [24, 16, 8, 0].map { String(low >> UInt64($0) & 0xff) }.joined(separator: ".")
        }
        return [high, low].flatMap { word in
            [48, 32, 16, 0].map { String(word >> UInt64($0) & 0xffff, radix: 16) }
        }.joined(separator: ":")
    }
}
