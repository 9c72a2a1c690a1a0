import Base
import Glibc

/// The certificate that a server of TLS shows, whether or not it is trusted: for words about one that is not.
///
/// Nothing but the handshake is sent. OpenSSL is called by name, as in `CertificateVerdict`.
package struct ServedCertificate: Hashable, Sendable {
    /// Of the subject's alternative names; without them, the subject.
    package var names: [String]
    package var issuer: String
    /// Certificates that the server sends, its own included.
    package var chainLength: Int

    /// - Returns: nil if nothing there speaks TLS within `patience`, or OpenSSL cannot be called.
    package static func read(host: String, port: UInt16, patience: Duration = .seconds(5)) -> ServedCertificate? {
        guard let library = Library() else { return nil }
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, "\(port)", &hints, &list) == 0, let list else { return nil }
        defer { freeaddrinfo(list) }
        var next: UnsafeMutablePointer<addrinfo>? = list
        while let entry = next?.pointee {
            if let descriptor = connect(entry, patience) {
                defer { close(descriptor) }
                return library.certificate(host, descriptor)
            }
            next = entry.ai_next
        }
        return nil
    }

    /// A connection whose reads and writes end after `patience`.
    private static func connect(_ entry: addrinfo, _ patience: Duration) -> Int32? {
        let descriptor = socket(entry.ai_family, entry.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), entry.ai_protocol)
        guard descriptor >= 0 else { return nil }
        var time = timeval(tv_sec: Int(patience.components.seconds), tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, size)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, size)
        guard Glibc.connect(descriptor, entry.ai_addr, entry.ai_addrlen) == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// The names in a certificate as OpenSSL prints it.
    static func names(in text: String) -> [String] {
        let lines = text.split(separator: "\n")
        guard let title = lines.firstIndex(where: { $0.hasPart("X509v3 Subject Alternative Name") }),
            lines.indices.contains(title + 1)
        else { return [] }
        return lines[title + 1].split(separator: ",").compactMap { entry in
            let parts = entry.split(separator: ":", maxSplits: 1)
            return parts.count == 2 ? String(parts[1].drop { $0 == " " }) : nil
        }
    }
}

/// The functions of OpenSSL that are needed, since version 1.1.
private struct Library {
    typealias Pointer = UnsafeMutableRawPointer
    typealias Make = @convention(c) () -> Pointer?
    typealias Derive = @convention(c) (Pointer) -> Pointer?
    typealias Free = @convention(c) (Pointer) -> Void
    typealias Number = @convention(c) (Pointer) -> Int32
    typealias Attach = @convention(c) (Pointer, Int32) -> Int32
    typealias Control = @convention(c) (Pointer, Int32, Int, UnsafeRawPointer?) -> Int
    typealias Print = @convention(c) (Pointer, Pointer) -> Int32
    typealias Take = @convention(c) (Pointer, Pointer, Int32) -> Int32
    typealias Line = @convention(c) (Pointer, UnsafeMutablePointer<CChar>?, Int32) -> UnsafeMutablePointer<CChar>?

    let method: Make, context: Derive, freeContext: Free, session: Derive, freeSession: Free
    let attach: Attach, control: Control, connect: Number, certificate: Derive, freeCertificate: Free
    let chain: Derive, count: Number, subject: Derive, issuer: Derive, line: Line
    let memory: Make, buffer: Derive, freeBuffer: Number, print: Print, take: Take

    init?() {
        func find<Function>(_ names: String..., as type: Function.Type = Function.self) -> Function? {
            names.lazy.compactMap { dlsym(nil, $0) }.first.map { unsafeBitCast($0, to: type) }
        }
        guard let method: Make = find("TLS_client_method"), let context: Derive = find("SSL_CTX_new"),
            let freeContext: Free = find("SSL_CTX_free"), let session: Derive = find("SSL_new"),
            let freeSession: Free = find("SSL_free"), let attach: Attach = find("SSL_set_fd"),
            let control: Control = find("SSL_ctrl"), let connect: Number = find("SSL_connect"),
            let certificate: Derive = find("SSL_get1_peer_certificate", "SSL_get_peer_certificate"),
            let freeCertificate: Free = find("X509_free"), let chain: Derive = find("SSL_get_peer_cert_chain"),
            let count: Number = find("OPENSSL_sk_num"), let subject: Derive = find("X509_get_subject_name"),
            let issuer: Derive = find("X509_get_issuer_name"), let line: Line = find("X509_NAME_oneline"),
            let memory: Make = find("BIO_s_mem"), let buffer: Derive = find("BIO_new"),
            let freeBuffer: Number = find("BIO_free"), let print: Print = find("X509_print"),
            let take: Take = find("BIO_read")
        else { return nil }
        (self.method, self.context, self.freeContext) = (method, context, freeContext)
        (self.session, self.freeSession, self.attach) = (session, freeSession, attach)
        (self.control, self.connect, self.certificate) = (control, connect, certificate)
        (self.freeCertificate, self.chain, self.count) = (freeCertificate, chain, count)
        (self.subject, self.issuer, self.line) = (subject, issuer, line)
        (self.memory, self.buffer, self.freeBuffer) = (memory, buffer, freeBuffer)
        (self.print, self.take) = (print, take)
    }

    func certificate(_ host: String, _ descriptor: Int32) -> ServedCertificate? {
        // Certificates are not checked unless asked for.
        guard let context = method().flatMap(context) else { return nil }
        defer { freeContext(context) }
        guard let session = session(context) else { return nil }
        defer { freeSession(session) }
        guard attach(session, descriptor) == 1 else { return nil }
        // SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name
        _ = host.withCString { control(session, 55, 0, $0) }
        // If the server wants a certificate of ours, it says so after its own has come.
        _ = connect(session)
        guard let certificate = certificate(session) else { return nil }
        defer { freeCertificate(certificate) }
        let length = chain(session).map { Int(count($0)) } ?? 1
        var names = ServedCertificate.names(in: text(of: certificate))
        if names.isEmpty { names = [words(of: subject(certificate))] }
        return ServedCertificate(names: names, issuer: words(of: issuer(certificate)), chainLength: length)
    }

    private func words(of name: Pointer?) -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard let name, line(name, &buffer, Int32(buffer.count)) != nil else { return "" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private func text(of certificate: Pointer) -> String {
        guard let buffer = memory().flatMap(buffer) else { return "" }
        defer { _ = freeBuffer(buffer) }
        guard print(buffer, certificate) == 1 else { return "" }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = bytes.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { take(buffer, $0, Int32(bytes.count)) } ?? 0
        }
        return String(decoding: bytes.prefix(max(0, Int(count))), as: UTF8.self)
    }
}
