import Base
import System
import TestSupport
import Testing

/// What apt's lists on this machine say of newer versions.
@Suite struct PackageListsTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func newer(than version: String) -> String? {
        var lists = PackageLists(directory: directory.path)
        return lists.newer(than: version, at: .zero)
    }

    private static func stanza(_ package: String, _ version: String) -> String {
        "Package: \(package)\nArchitecture: arm64\nVersion: \(version)\nDescription: Package: and Version: in a text\n\n"
    }

    @Test(
        "A newer version is found, an equal or older one is not",
        arguments: [
            ("1.0.1+deb13", "1.0.0", "1.0.1"), ("1.10.0", "1.9.3", "1.10.0"), ("2.0", "1.9.9", "2.0"),
            ("1.0.0+deb13", "1.0.0", nil), ("1.0.0", "1.0.1", nil), ("nonsense", "1.0.0", nil),
        ] as [(String, String, String?)])
    func compares(listed: String, own: String, expected: String?) throws {
        try directory.write(Self.stanza("ibeacon-gateway", listed), to: "archive_dists_stable_main_Packages")
        #expect(newer(than: own) == expected)
    }

    @Test func `The newest of several lists counts, and other packages do not`() throws {
        let one =
            Self.stanza("ibeacon-gateway", "1.0.1") + Self.stanza("zzz", "9.0")
            + Self.stanza("ibeacon-gateway", "1.0.3")
        try directory.write(one, to: "a_Packages")
        try directory.write(Self.stanza("ibeacon-gateway-extras", "8.0"), to: "b_Packages")
        try directory.write(Self.stanza("ibeacon-gateway", "7.0"), to: "c_Sources")
        #expect(newer(than: "1.0.0") == "1.0.3")
    }

    @Test func `The long list of a distribution is not read`() throws {
        let long = Self.stanza("ibeacon-gateway", "2.0") + String(repeating: "X: y\n", count: 300_000)
        try directory.write(long, to: "debian_Packages")
        #expect(newer(than: "1.0.0") == nil)
    }

    @Test func `Without lists nothing is known`() throws {
        var lists = PackageLists(directory: directory.file("none"))
        #expect(lists.newer(than: "1.0.0", at: .zero) == nil)
    }

    @Test func `The lists are looked at again after six hours, and not before`() throws {
        var lists = PackageLists(directory: directory.path)
        #expect(lists.newer(than: "1.0.0", at: .zero) == nil)
        try directory.write(Self.stanza("ibeacon-gateway", "2.0"), to: "a_Packages")
        #expect(lists.newer(than: "1.0.0", at: MonotonicInstant.zero.advanced(by: .seconds(6 * 3600 - 1))) == nil)
        #expect(lists.newer(than: "1.0.0", at: MonotonicInstant.zero.advanced(by: .seconds(6 * 3600))) == "2.0")
    }
}
