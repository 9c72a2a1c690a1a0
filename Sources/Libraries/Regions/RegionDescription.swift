public import Base
import Beacon
package import Identities

/// `name:UUID[:major[:minor]]`, the text in which OwnTracks describes a beacon region, or `name:mac:…`, `name:eddystone:…`,
/// `name:altbeacon:…` for what is no iBeacon.
public struct RegionDescription: Hashable, Sendable {
    /// Bytes of UTF-8 that a name may have.
    public static let longestName = 16384

    /// Verbatim, with its leading `-` or `+` and its `|1|2`.
    @ExactString public private(set) var name: String
    /// nil if the description has no UUID part.
    public let pattern: BeaconPattern?
    /// Where the UUID of `pattern` came from, in a description that was just read. A region keeps it elsewhere.
    package let identity: Identity?
    /// The key that the UUID of `pattern` is derived from, in a description that was just read. It belongs to the keys of
    /// phones; no region keeps it.
    package let key: IdentityKey?

    /// A description of these parts, without a check.
    public init(name: String, pattern: BeaconPattern?) { self.init(name: name, pattern: pattern, identity: nil) }

    package init(name: String, pattern: BeaconPattern?, identity: Identity?, key: IdentityKey? = nil) {
        self.name = name
        self.pattern = pattern
        self.identity = identity
        self.key = key
    }

    /// Reads a description.
    ///
    /// - Parameters:
    ///   - text: The description. White space is trimmed around UUID and numbers, never in the name.
    ///   - base: How its numbers are written.
    /// - Throws: The first mistake, in words for the author.
    public init(parsing text: String, base: NumberBase = .auto) throws(RegionDescriptionError) {
        try self.init(parsing: text, base: base, acceptsKey: false)
    }

    /// - Parameter acceptsKey: Whether the description may have a key, because it came in a way that nobody else can read.
    package init(parsing text: String, base: NumberBase, acceptsKey: Bool) throws(RegionDescriptionError) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard !name.isEmpty else { throw .emptyName }
        guard name.utf8.count <= Self.longestName else { throw .nameTooLong(bytes: name.utf8.count) }
        guard parts.count > 1 else {
            self.init(name: name, pattern: nil)
            return
        }
        if acceptsKey, Self.hasKey(text) {
            let text = parts[2...].joined(separator: ":")
            let key = try mapError({ RegionDescriptionError.invalidIdentity(reason: "\($0)") }) {
                () throws(PhoneKeysError) in
                try PhoneKeysError.key(text)
            }
            self.init(
                name: name, pattern: BeaconPattern(uuid: key.uuid, major: nil, minor: nil), identity: nil, key: key)
            return
        }
        let (uuid, identity, numbers) = try Self.source(parts[1...])
        let majorText = numbers.first ?? ""
        let minorText = numbers.dropFirst().first ?? ""
        let isHexadecimal =
            switch base {
            case .decimal: false
            case .hexadecimal: true
            case .auto: majorText.looksHexadecimal || minorText.looksHexadecimal
            }
        self.init(
            name: name,
            pattern: BeaconPattern(
                uuid: uuid,
                major: try number(majorText, member: "major", isHexadecimal: isHexadecimal),
                minor: try number(minorText, member: "minor", isHexadecimal: isHexadecimal)), identity: identity)
    }

    /// A text that may be a description, for messages: without a key, which is a secret that does not belong in it.
    package static func shown(_ text: String) -> String {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.dropFirst().contains(where: { Identity.Kind(word: $0.trimmingBlanks) == .irk }) else {
            return text
        }
        return "\(parts[0]):irk:\(Secret.mask)"
    }

    /// Whether a text is a description with a key.
    package static func hasKey(_ text: String) -> Bool {
        let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        return parts.count > 2 && Identity.Kind(word: parts[1].trimmingBlanks) == .irk
    }

    /// The UUID, what it is derived from if that is an identity, and the texts of major and minor.
    private static func source(
        _ parts: ArraySlice<Substring>
    ) throws(RegionDescriptionError) -> (BeaconUUID, Identity?, [Substring]) {
        let count = parts.count + 1
        var parts = parts.map(\.trimmingBlanks)[...]
        let first = parts.popFirst() ?? ""
        var identity: Identity?
        if let kind = Identity.Kind(word: first) {
            do throws(IdentityError) {
                identity = try Identity(kind, takingFrom: &parts)
            } catch {
                throw error == .key ? .secretKey : .invalidIdentity(reason: error.description)
            }
        }
        guard parts.count <= 2 else { throw .tooManyParts(count) }
        if let identity { return (identity.uuid, identity, Array(parts)) }
        guard let uuid = BeaconUUID(first) else { throw .invalidUUID(String(first)) }
        return (uuid, nil, Array(parts))
    }

    /// The description with its UUID in upper case, dashed, and numbers that read the same under `base`.
    public func text(base: NumberBase = .auto) -> String {
        guard let pattern else { return name }
        guard base == .hexadecimal else { return "\(name):\(pattern)" }
        switch (pattern.major, pattern.minor) {
        case (nil, nil): return "\(name):\(pattern.uuid)"
        case (let major?, nil): return "\(name):\(pattern.uuid):\(hexadecimal(major))"
        case (let major, let minor?): return "\(name):\(pattern.uuid):\(hexadecimal(major ?? 0)):\(hexadecimal(minor))"
        }
    }
}

/// A major or minor as `0x` and four hexadecimal digits.
package func hexadecimal(_ number: UInt16) -> String {
    "0x" + hexadecimal(UInt8(number >> 8)) + hexadecimal(UInt8(number & 0xff))
}

/// The number in `text`; nil for "any" (empty or 0).
private func number(
    _ text: Substring, member: String, isHexadecimal: Bool
) throws(RegionDescriptionError) -> UInt16? {
    guard !text.isEmpty else { return nil }
    let isPrefixed = text.hasPrefix("0x") || text.hasPrefix("0X")
    let digits = isPrefixed ? text.dropFirst(2) : text
    let isNumber =
        !digits.isEmpty && digits.utf8.allSatisfy { $0.isHexadecimalDigit(orDecimal: !isHexadecimal && !isPrefixed) }
    guard isNumber else { throw .invalidNumber(member: member, text: String(text)) }
    guard let value = UInt16(digits, radix: isHexadecimal || isPrefixed ? 16 : 10) else {
        throw .numberOutOfRange(member: member, text: String(text))
    }
    return value == 0 ? nil : value
}

extension UInt8 {
    fileprivate func isHexadecimalDigit(orDecimal decimalOnly: Bool) -> Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): !decimalOnly
        default: false
        }
    }
}

extension Substring {
    /// Without blanks of any kind around it, and without the signs that programs for text write for none.
    fileprivate var trimmingBlanks: Substring {
        let isBlank: (Character) -> Bool = { $0.isWhitespace || $0 == "\u{200b}" || $0 == "\u{feff}" }
        var text = drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return text
    }

    /// Whether the number shows by itself that it is hexadecimal.
    fileprivate var looksHexadecimal: Bool {
        if hasPrefix("0x") || hasPrefix("0X") { return true }
        if utf8.count == 4, first == "0" { return true }
        return utf8.contains { $0.isHexadecimalDigit(orDecimal: false) && !$0.isHexadecimalDigit(orDecimal: true) }
    }
}
