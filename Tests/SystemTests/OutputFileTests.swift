import Glibc
import System
import TestSupport
import Testing

/// Where a person says that something is to be written.
@Suite struct OutputFileTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func status(_ name: String, followsLinks: Bool = true) throws -> stat {
        var status = stat()
        let path = directory.file(name)
        try #require((followsLinks ? stat(path, &status) : lstat(path, &status)) == 0)
        return status
    }

    @Test func `A new file is one that everybody may read`() throws {
        try OutputFile.write(Array("new".utf8), to: directory.file("out"))
        #expect(try directory.read("out") == Array("new".utf8))
        #expect(try status("out").st_mode & 0o7777 == 0o644)
        #expect(try run("ls", ["-A", directory.path]) == "out\n")
    }

    @Test(arguments: [0o600, 0o640, 0o666] as [mode_t])
    func `A file that is there is replaced and keeps its mode`(mode: mode_t) throws {
        try directory.write("old and long", to: "out")
        chmod(directory.file("out"), mode)
        let before = try status("out").st_ino
        try OutputFile.write(Array("new".utf8), to: directory.file("out"))
        #expect(try directory.read("out") == Array("new".utf8))
        #expect(try status("out").st_mode & 0o7777 == mode)
        #expect(try status("out").st_ino != before)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can write a file of another user"))
    func `A file that is there keeps its owner`() throws {
        try directory.write("old", to: "out")
        chown(directory.file("out"), 12, 34)
        try OutputFile.write(Array("new".utf8), to: directory.file("out"))
        #expect(try directory.read("out") == Array("new".utf8))
        #expect(try status("out").st_uid == 12 && status("out").st_gid == 34)
    }

    @Test func `A symbolic link stays, and what it leads to is written`() throws {
        try directory.write("old", to: "target")
        chmod(directory.file("target"), 0o600)
        symlink("target", directory.file("link"))
        try OutputFile.write(Array("new".utf8), to: directory.file("link"))
        #expect(try directory.read("target") == Array("new".utf8))
        #expect(try status("link", followsLinks: false).st_mode & S_IFMT == S_IFLNK)
        #expect(try status("target").st_mode & 0o7777 == 0o600)
    }

    @Test func `A symbolic link that leads nowhere makes the file that it names`() throws {
        symlink("target", directory.file("link"))
        try OutputFile.write(Array("new".utf8), to: directory.file("link"))
        #expect(try directory.read("target") == Array("new".utf8))
        #expect(try status("link", followsLinks: false).st_mode & S_IFMT == S_IFLNK)
    }

    @Test func `A FIFO carries the bytes and stays a FIFO`() throws {
        let path = directory.file("fifo")
        mkfifo(path, 0o600)
        // Open for both, so that neither end waits for the other.
        let reader = open(path, O_RDWR | O_CLOEXEC)
        defer { close(reader) }
        try OutputFile.write(Array("new".utf8), to: path)
        var buffer = [UInt8](repeating: 0, count: 16)
        #expect(read(reader, &buffer, buffer.count) == 3)
        #expect(try status("fifo", followsLinks: false).st_mode & S_IFMT == S_IFIFO)
    }

    /// Through a link in a directory of the test, so that a wrong program replaces the link and not the device.
    @Test(arguments: [("/dev/null", nil), ("/dev/full", ENOSPC)] as [(String, Int32?)])
    func `A device is written to and stays a device`(device: String, code: Int32?) throws {
        symlink(device, directory.file("link"))
        var failure: FileError?
        do throws(FileError) { try OutputFile.write([1], to: directory.file("link")) } catch { failure = error }
        #expect(failure?.code == code)
        #expect(try status("link", followsLinks: false).st_mode & S_IFMT == S_IFLNK)
        #expect(try status("link").st_mode & S_IFMT == S_IFCHR)
    }

    @Test func `A directory is refused, and nothing is left beside it`() throws {
        mkdir(directory.file("out"), 0o700)
        #expect(throws: FileError(.write, directory.file("out"), .system(SystemError("open", code: EISDIR)))) {
            try OutputFile.write([1], to: directory.file("out"))
        }
        #expect(try run("ls", ["-A", directory.path]) == "out\n")
    }

    @Test func `What a killed process with the same number left behind is no hindrance`() throws {
        try directory.write("half", to: "out.new-\(getpid())")
        try AtomicFile.replace(directory.file("out"), by: [65], AtomicFile.Attributes(mode: 0o600))
        #expect(try directory.read("out") == [65])
        #expect(try run("ls", ["-A", directory.path]) == "out\n")
    }

    @Test func `An atomic replacement does not follow the link that it replaces`() throws {
        try directory.write("old", to: "victim")
        symlink("victim", directory.file("link"))
        try AtomicFile.replace(directory.file("link"), by: [65], AtomicFile.Attributes(mode: 0o600))
        #expect(try directory.read("victim") == Array("old".utf8))
        #expect(try status("link", followsLinks: false).st_mode & S_IFMT == S_IFREG)
    }
}
