import Base
import Glibc
import Testing

@testable import Runtime

@Suite struct JournalTests {
    private static func text(_ entry: [[UInt8]]) -> [String] { entry.map { String(decoding: $0, as: UTF8.self) } }

    @Test func `an entry is the text, its priority, and the fields in their order`() {
        let entry = Journal.entry(.notice, "entered Hall", ["IBEACON_RID": "b4", "IBEACON_EVENT": "enter"])
        #expect(
            Self.text(entry) == [
                "MESSAGE=entered Hall", "PRIORITY=5", "SYSLOG_IDENTIFIER=ibeacon-gateway", "IBEACON_EVENT=enter",
                "IBEACON_RID=b4",
            ])
    }

    @Test(arguments: ["", "_PID", "1A", "lower", "WITH=SIGN", "WITH BLANK", String(repeating: "A", count: 65)])
    func `a field that the journal would not take is left out`(name: String) {
        #expect(Journal.entry(.info, "x", [name: "value"]).count == 3)
    }

    @Test func `a line break in a value cannot begin another field`() {
        // Each field is a piece of its own with its length, so nothing in it is a border.
        #expect(Journal.entry(.info, "x", ["A": "1\nPRIORITY=0"]).last == Array("A=1\nPRIORITY=0".utf8))
    }

    @Test func `the journal is known by device and inode`() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer {
            close(ends[0])
            close(ends[1])
        }
        var information = stat()
        #expect(fstat(ends[1], &information) == 0)
        let (device, inode) = (UInt64(information.st_dev), UInt64(information.st_ino))
        #expect(Journal.isBehind(ends[1], stream: "\(device):\(inode)"))
        #expect(!Journal.isBehind(ends[1], stream: "\(device):\(inode + 1)"))
        for stream in [nil, "", ":", "\(device)", "\(device):", "\(device):\(inode):1", "x:y"] {
            #expect(!Journal.isBehind(ends[1], stream: stream))
        }
    }
}
