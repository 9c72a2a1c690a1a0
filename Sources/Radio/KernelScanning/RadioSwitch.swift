import Glibc

/// The kernel's radio switch (rfkill) of an adapter, read from sysfs.
enum RadioSwitch {
    /// Whether a program (soft) or a switch on the machine (hard) forbids the radio.
    static func isBlocked(_ index: UInt16) -> Bool {
        let adapter = "/sys/class/bluetooth/hci\(index)"
        guard let directory = opendir(adapter) else { return false }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasPrefix("rfkill") else { continue }
            if isOne("\(adapter)/\(name)/soft") || isOne("\(adapter)/\(name)/hard") { return true }
        }
        return false
    }

    private static func isOne(_ path: String) -> Bool {
        guard let file = fopen(path, "re") else { return false }
        defer { fclose(file) }
        return fgetc(file) == Int32(UInt8(ascii: "1"))
    }
}
