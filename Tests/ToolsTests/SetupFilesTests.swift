import Glibc
import System
import TestSupport
import Testing

@testable import Tools

/// The files that setup writes.
@Suite struct SetupFilesTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func status(_ name: String) -> stat {
        var status = stat()
        stat(directory.file(name), &status)
        return status
    }

    @Test(
        arguments: [
            (EACCES, "/etc/x cannot be written; run: sudo ibeacon-gateway setup"),
            (EPERM, "/etc/x cannot be written; run: sudo ibeacon-gateway setup"),
            (EROFS, "/etc/x cannot be written: Read-only file system"),
        ])
    func `sudo is advised where a right is missing, and not on a file system that nobody can write to`(
        code: CInt, text: String
    ) {
        let failure = SetupFiles.unwritable("/etc/x", because: code)
        #expect(failure.message == text && failure.code == .noPermission)
    }

    @Test func `A directory is made with those above it`() throws {
        try SetupFiles.prepare(directory.file("a/b/etc"))
        #expect(status("a/b/etc").st_mode & S_IFMT == S_IFDIR)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files to another group"))
    func `The service may read the directory that setup makes, and the files in it`() throws {
        let group = try #require(getgrgid(1))
        mkdir(directory.file("etc"), 0o750)
        let name = String(cString: group.pointee.gr_name)
        #expect(SetupFiles.share(directory.file("etc"), with: name) == nil)
        #expect(status("etc").st_gid == 1 && status("etc").st_mode & 0o7777 == 0o2750)
        try SetupFiles.write(Array("{}".utf8), to: directory.file("etc/config.json"))
        #expect(status("etc/config.json").st_gid == 1 && status("etc/config.json").st_mode & 0o7777 == 0o640)
        // As a person makes one.
        try directory.write("secret", to: "etc/password")
        #expect(status("etc/password").st_gid == 1)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files to another group"))
    func `A directory of another group, which a service of another user reads, stays as it is`() throws {
        let group = try #require(getgrgid(1))
        mkdir(directory.file("etc"), 0o750)
        chown(directory.file("etc"), 0, 2)
        #expect(SetupFiles.share(directory.file("etc"), with: String(cString: group.pointee.gr_name)) == nil)
        #expect(status("etc").st_gid == 2 && status("etc").st_mode & 0o7777 == 0o750)
    }

    @Test func `On a machine without the group of the service a directory stays as it is`() throws {
        mkdir(directory.file("etc"), 0o750)
        let before = status("etc").st_gid
        #expect(SetupFiles.share(directory.file("etc"), with: "no-such-group") == nil)
        #expect(status("etc").st_gid == before && status("etc").st_mode & 0o7777 == 0o750)
    }

    @Test func `A kept file stays in its place, and its copy has its mode`() throws {
        let path = try directory.write("old", to: "config.json")
        chmod(path, 0o640)
        #expect(try SetupFiles.keep(path).hasSuffix("/config.json.old"))
        for name in ["config.json", "config.json.old"] {
            #expect(try directory.read(name) == Array("old".utf8) && status(name).st_mode & 0o7777 == 0o640)
        }
    }

    @Test func `Each configuration that was replaced stays, and one that is kept twice is kept once`() throws {
        for text in ["by hand", "first", "first", "second"] {
            _ = try SetupFiles.keep(try directory.write(text, to: "config.json"))
        }
        let kept = try [".old", ".old.1", ".old.2"].map {
            String(decoding: try directory.read("config.json\($0)"), as: UTF8.self)
        }
        #expect(kept == ["second", "by hand", "first"])
        #expect(throws: (any Error).self) { try directory.read("config.json.old.3") }
    }
}
