import Testing

@testable import Messaging

@Suite struct CertificateFileTests {
    @Test(arguments: [
        ("-----BEGIN CERTIFICATE-----\nMIIB\n", [UInt8](), String?.none),
        ("# our authority\n-----BEGIN CERTIFICATE-----\n", [], nil),
        ("", [0x30, 0x82, 0x0a, 0x10, 0x02, 0x01, 0x03, 0x30], "PKCS#12"),
        ("", [0x30, 0x7f, 0x02, 0x01, 0x03, 0x30], "PKCS#12"),
        ("", [0x30, 0x82, 0x03, 0x10, 0x30, 0x82, 0x02], "DER"), ("", [0x30], "DER"), ("", [], "no PEM"),
        ("hello", [], "no PEM"),
    ])
    func `The form of a file is told from its bytes, with the command that makes PEM of it`(
        text: String, bytes: [UInt8], words: String?
    ) {
        let problem = CertificateFile.form(Array(text.utf8) + bytes, "/etc/x.p12")
        #expect((problem == nil) == (words == nil))
        if let words, let problem { #expect(problem.contains(words) && problem.contains("/etc/x.p12")) }
        if words == "DER" || words == "PKCS#12" { #expect(problem?.contains("openssl") == true) }
    }

    @Test func `The names of a certificate are those that OpenSSL prints`() {
        let text = """
            Certificate:
                X509v3 extensions:
                    X509v3 Subject Alternative Name: critical
                        DNS:broker.lan, DNS:*.home, IP Address:192.168.1.2
                    X509v3 Key Usage:
            """
        #expect(ServedCertificate.names(in: text) == ["broker.lan", "*.home", "192.168.1.2"])
        #expect(ServedCertificate.names(in: "X509v3 Subject Alternative Name:").isEmpty)
        #expect(ServedCertificate.names(in: "").isEmpty)
    }
}
