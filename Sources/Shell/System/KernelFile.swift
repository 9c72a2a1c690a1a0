import Glibc

/// The kernel's short texts below /proc and /sys. Files and directories that cannot be read count as missing.
package enum KernelFile {
    /// The whole text.
    package static func text(_ path: String) -> String? {
        guard let bytes = try? InputFile.read(path) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text up to the first line break or zero byte; nil if it is empty.
    package static func firstLine(_ path: String) -> String? {
        let line = text(path)?.prefix { $0 != "\n" && $0 != "\0" } ?? ""
        return line.isEmpty ? nil : String(line)
    }

    /// The rest of the first line that begins with `name`.
    package static func value(after name: String, in path: String) -> String? {
        let line = text(path)?.split(separator: "\n").first { $0.hasPrefix(name) }
        return line.map { String($0.dropFirst(name.count)) }
    }

    /// The names in a directory, without those that begin with a dot.
    package static func names(in directory: String) -> [String] {
        guard let directory = opendir(directory) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }
}
