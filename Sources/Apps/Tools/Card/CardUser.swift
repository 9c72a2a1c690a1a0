import Base
import System

/// A person who may log in to the machine of a card, with a key of SSH and no password.
struct CardUser: Equatable {
    let name: String
    /// Lines as in `authorized_keys`.
    let keys: [String]

    init(name: String, keys file: [UInt8]) throws(Failure) {
        let isName = name.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
        }
        guard isName, name.utf8.count <= 32, name.first?.isLetter == true, name != "root" else {
            throw Failure(.usage, "--user takes small letters, digits, '_' and '-', such as jane, and not root")
        }
        let lines = String(decoding: file, as: UTF8.self).split(whereSeparator: \.isNewline).map { String($0.trimmed) }
        keys = lines.filter { !$0.isEmpty && !$0.hasPrefix("#") }
        guard !keys.isEmpty, keys.allSatisfy({ $0.hasPrefix("ssh-") || $0.hasPrefix("ecdsa-") || $0.hasPrefix("sk-") })
        else {
            throw Failure(.badData, "--ssh-key takes the file of a public key, such as ~/.ssh/id_ed25519.pub")
        }
        self.name = name
    }

    var configuration: CloudText {
        .map([
            ("name", .text(name)), ("lock_passwd", .flag(true)), ("shell", .text("/bin/bash")),
            ("groups", .text("adm,sudo,systemd-journal")), ("sudo", .text("ALL=(ALL) NOPASSWD:ALL")),
            ("ssh_authorized_keys", .list(keys.map { .text($0) })),
        ])
    }
}
