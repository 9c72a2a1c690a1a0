import Base

/// The identifier of a region that came without one: the first six hexadecimal digits, lower case, of
/// SHA-1 over `name-tst`, as OwnTracks for iOS makes it.
package func derivedRID(name: String, timestamp: Int64) -> String {
    let word = SHA1.digest(of: "\(name)-\(timestamp)".utf8)[0]
    let digits = String(word >> 8, radix: 16)
    return String(repeating: "0", count: 6 - digits.count) + digits
}
