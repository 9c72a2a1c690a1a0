import Base
package import System

/// Files of certificates and keys. Only PEM can be used, and people have others.
package enum CertificateFile {
    /// What is wrong with the form of a file, and how to get PEM from it; nil: it is PEM.
    package static func problem(in file: String) throws(FileError) -> String? { form(try InputFile.read(file), file) }

    /// - Parameter bytes: The content of `file`.
    static func form(_ bytes: [UInt8], _ file: String) -> String? {
        guard bytes.firstIndex(ofPart: "-----BEGIN ".utf8) == nil else { return nil }
        guard bytes.first == 0x30 else {
            return "\(file) has no PEM, whose lines begin with '-----BEGIN'"
        }
        // A PKCS#12 file begins with a sequence whose first member is the version 3 (RFC 7292, section 4).
        let members = bytes.dropFirst(2 + (bytes.count > 1 && bytes[1] > 0x80 ? Int(bytes[1] & 0x7f) : 0))
        if members.prefix(3).elementsEqual([2, 1, 3]) {
            return "\(file) is a PKCS#12 file (.p12, .pfx); make PEM of it: "
                + "openssl pkcs12 -in \(file) -nodes -out NAME.pem"
        }
        return "\(file) is a DER file; make PEM of it: openssl x509 -inform der -in \(file) -out NAME.pem "
            + "(for a key: openssl pkey instead of x509)"
    }
}
