import System
import TestSupport
import Testing

@Suite struct KernelFileTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test(arguments: [
        ("up\n", "up"), ("Raspberry Pi 4\u{0}", "Raspberry Pi 4"), ("a\nb\n", "a"), ("\n", nil), ("", nil),
    ])
    func `A line ends with a line break or a zero`(content: String, line: String?) throws {
        try OutputFile.write(Array(content.utf8), to: directory.file("attribute"))
        #expect(KernelFile.firstLine(directory.file("attribute")) == line)
    }

    @Test func `A value follows its name`() throws {
        try OutputFile.write(Array("Name:\tx\nCapEff:\t00ff\n".utf8), to: directory.file("status"))
        #expect(KernelFile.value(after: "CapEff:", in: directory.file("status")) == "\t00ff")
        #expect(KernelFile.value(after: "CapBnd:", in: directory.file("status")) == nil)
    }

    @Test func `The names in a directory come without those that begin with a dot`() throws {
        for name in ["hci0", ".hidden"] { try OutputFile.write([], to: directory.file(name)) }
        #expect(KernelFile.names(in: directory.path) == ["hci0"])
    }

    @Test func `What is not there has neither text nor names`() {
        #expect(KernelFile.text(directory.file("none")) == nil)
        #expect(KernelFile.names(in: directory.file("none")).isEmpty)
    }
}
