/// The bytes of digits.
func bytes(_ hexadecimal: String) -> [UInt8] {
    var digits = hexadecimal[...]
    var bytes: [UInt8] = []
    while !digits.isEmpty {
        bytes.append(UInt8(digits.prefix(2), radix: 16) ?? 0)
        digits = digits.dropFirst(2)
    }
    return bytes
}
