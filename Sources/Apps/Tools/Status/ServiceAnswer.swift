/// A whole answer of an HTTP server that closes the connection after it. Any program may have sent it.
struct ServiceAnswer {
    /// The status code; 0 if there is none.
    let status: Int
    let body: [UInt8]

    /// - Returns: nil if the bytes are no answer of HTTP/1.1 with a whole head.
    init?(_ bytes: [UInt8]) {
        let mark = Array("\r\n\r\n".utf8)
        guard bytes.starts(with: Array("HTTP/1.1 ".utf8)), bytes.count >= mark.count,
            let end = (0...(bytes.count - mark.count)).first(where: {
                bytes[$0..<($0 + mark.count)].elementsEqual(mark)
            })
        else { return nil }
        status = Int(String(decoding: bytes[..<end].dropFirst(9).prefix(3), as: UTF8.self)) ?? 0
        body = Array(bytes[(end + mark.count)...])
    }
}
