import CMicroHTTPD

/// An answer that the library may send any number of times; the library counts the references.
final class HTTPResponse {
    let status: UInt32
    let pointer: OpaquePointer

    /// - Returns: nil if memory is short.
    init?(status: UInt32, type: String, body: [UInt8], headers: [(name: String, value: String)] = []) {
        let made = body.withUnsafeBytes { bytes in
            // The library copies the bytes. Only its other modes need a mutable pointer.
            MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
        }
        guard let made else { return nil }
        self.status = status
        pointer = made
        add(headers: securityHeaders + [("Content-Type", type)] + headers)
    }

    /// An endless answer, written by the stream.
    init?(stream: EventStream) {
        let context = Unmanaged.passRetained(stream)
        // MHD_SIZE_UNKNOWN is a macro with a cast, which is not imported.
        guard
            let made = MHD_create_response_from_callback(
                .max, 8192, readEventStream, context.toOpaque(), releaseEventStream)
        else {
            context.release()
            return nil
        }
        status = 200
        pointer = made
        add(headers: securityHeaders + [("Content-Type", "text/event-stream"), ("X-Accel-Buffering", "no")])
    }

    private func add(headers: [(name: String, value: String)]) {
        for header in headers { MHD_add_response_header(pointer, header.name, header.value) }
    }

    deinit { MHD_destroy_response(pointer) }
}

/// Sent with every answer. The page loads nothing from other servers, connects to no other server and is not shown in a
/// frame. A name cannot become a script, even if it were written as HTML by mistake.
private let securityHeaders: [(name: String, value: String)] = [
    (
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cache-Control", "no-store"),
]
