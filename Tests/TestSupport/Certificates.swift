/// A certificate authority for one test, and its certificates, made with the openssl command. The files exist as long
/// as this object.
package final class Certificates: Sendable {
    private let directory: TemporaryDirectory

    package var authority: String { directory.file("authority.pem") }

    package struct Pair: Sendable {
        package let certificate: String
        package let key: String
    }

    package init() throws {
        directory = try TemporaryDirectory()
        try run(
            "openssl",
            ["req", "-x509"] + Self.newKey(directory.file("authority.key"))
                + ["-subj", "/CN=Authority of a test", "-days", "2", "-out", authority])
    }

    /// A certificate for the loopback interface, unless told otherwise.
    /// - Parameters:
    ///   - names: as in subjectAltName.
    ///   - expired: long ago, and not in two days.
    package func issue(
        _ name: String, names: String = "DNS:localhost,IP:127.0.0.1", expired: Bool = false
    ) throws -> Pair {
        let pair = Pair(certificate: directory.file("\(name).pem"), key: directory.file("\(name).key"))
        let request = directory.file("\(name).csr")
        try run("openssl", ["req"] + Self.newKey(pair.key) + ["-subj", "/CN=\(name)", "-out", request])
        let extensions = try directory.write("subjectAltName=\(names)\n", to: "\(name).extensions")
        let signer = ["-in", request, "-extfile", extensions, "-out", pair.certificate]
        let key = directory.file("authority.key")
        guard expired else {
            try run(
                "openssl",
                ["x509", "-req", "-CA", authority, "-CAkey", key, "-CAcreateserial", "-days", "2"] + signer)
            return pair
        }
        // OpenSSL 3.5 takes no negative number of days, and before 3.4 only `ca` takes dates.
        let rules = """
            [ca]
            default_ca = test
            [test]
            database = \(try directory.write("", to: "\(name).issued"))
            serial = \(directory.file("\(name).serial"))
            new_certs_dir = \(directory.path)
            default_md = sha256
            policy = any
            [any]
            commonName = supplied
            """
        try run(
            "openssl",
            [
                "ca", "-batch", "-notext", "-create_serial", "-config", try directory.write(rules, to: "\(name).rules"),
                "-cert", authority, "-keyfile", key, "-startdate", "20200101000000Z", "-enddate", "20200102000000Z",
            ] + signer)
        return pair
    }

    /// The same key, to be opened with a password only.
    package func encrypted(_ pair: Pair) throws -> Pair {
        let key = pair.key + ".encrypted"
        try run("openssl", ["pkey", "-in", pair.key, "-aes256", "-passout", "pass:secret", "-out", key])
        return Pair(certificate: pair.certificate, key: key)
    }

    private static func newKey(_ file: String) -> [String] {
        ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", file]
    }
}

extension MosquittoBroker {
    /// The lines of mosquitto.conf for a broker that speaks TLS.
    package static func tls(_ pair: Certificates.Pair, clientsSignedBy authority: String? = nil) -> [String] {
        ["allow_anonymous true", "certfile \(pair.certificate)", "keyfile \(pair.key)"]
            + (authority.map { ["cafile \($0)", "require_certificate true"] } ?? [])
    }
}
