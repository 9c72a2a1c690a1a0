import Glibc
import System
import TestSupport
import Testing

/// Files that the event loop reads.
@Suite struct InputFileTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test func `A regular file is read, also behind a link`() throws {
        try directory.write("text", to: "file")
        symlink("file", directory.file("link"))
        #expect(try InputFile.read(directory.file("file")) == Array("text".utf8))
        #expect(try InputFile.read(directory.file("link")) == Array("text".utf8))
    }

    @Test func `A FIFO without a writer is refused at once`() throws {
        let path = directory.file("fifo")
        mkfifo(path, 0o600)
        // A program that waits for a writer gets one after 15 s. The writer makes a file first.
        let mark = directory.file("writer")
        let writer = try ChildProcess("sh", ["-c", "sleep 15; : > '\(mark)'; : > '\(path)'"], output: "/dev/null")
        defer { withExtendedLifetime(writer) {} }
        #expect(throws: FileError(.read, path, .notRegular)) { try InputFile.read(path) }
        #expect(access(mark, F_OK) != 0)
    }

    @Test(arguments: ["/dev/zero", "/dev/tty", "/"])
    func `A device or directory is refused`(path: String) {
        #expect(throws: FileError.self) { try InputFile.read(path) }
    }

    @Test func `A pipe is read where one may be named`() throws {
        let path = directory.file("fifo")
        mkfifo(path, 0o600)
        let writer = try ChildProcess("sh", ["-c", "printf text > '\(path)'"], output: "/dev/null")
        #expect(try InputFile.read(path, .any) == Array("text".utf8))
        #expect(writer.wait() == 0)
    }

    @Test func `More bytes than the limit are refused`() throws {
        try directory.write("12345", to: "file")
        #expect(try InputFile.read(directory.file("file"), limit: 5).count == 5)
        #expect(throws: FileError(.read, directory.file("file"), .tooLong(limit: 4))) {
            try InputFile.read(directory.file("file"), limit: 4)
        }
    }
}
