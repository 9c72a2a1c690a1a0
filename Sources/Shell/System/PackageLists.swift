package import Base
import Glibc

/// A newer version of this program's package in the lists that apt keeps on this machine. Nothing is asked over the network: the
/// lists are as new as the last `apt-get update`, which Debian runs once a day.
package struct PackageLists {
    private static let package = "ibeacon-gateway"
    /// Lists that are longer are those of a whole distribution, which does not have this package. Bytes.
    private static let longest = 1 << 20
    /// Time between two looks at the lists.
    private static let period: Duration = .seconds(6 * 3600)

    private let directory: String
    private var looked: (at: MonotonicInstant, newest: String?)?

    package init(directory: String = "/var/lib/apt/lists") { self.directory = directory }

    /// The newest version in the lists, if it is newer; nil: there is none, or none is known.
    ///
    /// - Parameter version: That of this program.
    package mutating func newer(than version: String, at now: MonotonicInstant) -> String? {
        if looked.map({ $0.at.duration(to: now) >= Self.period }) ?? true { looked = (now, newest()) }
        return looked?.newest.flatMap { Self.isNewer($0, than: version) ? $0 : nil }
    }

    private func newest() -> String? {
        let texts = KernelFile.names(in: directory).filter { $0.hasSuffix("_Packages") }.compactMap { name -> String? in
            let path = "\(directory)/\(name)"
            var status = stat()
            guard stat(path, &status) == 0, status.st_size <= Self.longest else { return nil }
            return (try? InputFile.read(path)).map { String(decoding: $0, as: UTF8.self) }
        }
        return texts.flatMap(Self.versions).max { Self.isNewer($1, than: $0) }
    }

    /// The versions of the package in a list, without the part that Debian adds.
    static func versions(in list: String) -> [String] {
        var isOurs = false
        var versions: [String] = []
        for line in list.split(separator: "\n") {
            if line.hasPrefix("Package: ") { isOurs = line.dropFirst(9) == package }
            if isOurs, line.hasPrefix("Version: ") {
                versions.append(String(line.dropFirst(9).prefix { $0.isNumber || $0 == "." }))
            }
        }
        return versions
    }

    /// Compares the numbers between the dots.
    static func isNewer(_ one: String, than other: String) -> Bool {
        let (one, other) = (numbers(one), numbers(other))
        return other.lexicographicallyPrecedes(one)
    }

    private static func numbers(_ version: String) -> [Int] {
        version.prefix { $0.isNumber || $0 == "." }.split(separator: ".").map { Int($0) ?? 0 }
    }
}
