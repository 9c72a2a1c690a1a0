import CMosquitto
import Glibc

/// OpenSSL's verdict on the broker's certificate: "certificate has expired", "unable to get local issuer
/// certificate", and so on.
enum CertificateVerdict {
    private typealias Verify = @convention(c) (UnsafeMutableRawPointer) -> Int
    private typealias Words = @convention(c) (Int) -> UnsafePointer<CChar>?

    /// nil if there is none, if it is good, or if libmosquitto was built with another TLS library.
    static func of(_ client: OpaquePointer?) -> String? {
        // libmosquitto brings OpenSSL along. Asked for by name, it needs no second C library to build
        // against; both functions have had this form since OpenSSL 0.9.
        guard let connection = client.flatMap({ mosquitto_ssl_get($0) }),
            let verify = dlsym(nil, "SSL_get_verify_result"),
            let words = dlsym(nil, "X509_verify_cert_error_string")
        else { return nil }
        let verdict = unsafeBitCast(verify, to: Verify.self)(connection)
        guard verdict != 0, let text = unsafeBitCast(words, to: Words.self)(verdict) else { return nil }
        return String(cString: text)
    }
}
