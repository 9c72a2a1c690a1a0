import Beacon
import Testing

@testable import Tools

/// What is below the table of a scan on a terminal.
@Suite struct ScanRemarksTests {
    private let hci0 = Receiver(index: 0)
    private let hci1 = Receiver(index: 1)

    @Test func `Why nothing listens stays below the table, however often that is drawn`() {
        var remarks = ScanRemarks()
        #expect(remarks.page("TABLE") == "TABLE\n\nnothing listens yet")
        remarks.add("there is no Bluetooth adapter; plug one in")
        for _ in 0..<3 { #expect(remarks.page("TABLE") == "TABLE\n\nthere is no Bluetooth adapter; plug one in") }
    }

    @Test func `An adapter that does not listen has a line until it listens`() {
        var remarks = ScanRemarks()
        remarks.listening(false, of: hci1, because: "hci1: off")
        remarks.listening(false, of: hci0, because: "hci0: powered off")
        #expect(remarks.page("TABLE") == "TABLE\n\nnot listening: hci0: powered off\nnot listening: hci1: off")
        remarks.listening(true, of: hci0, because: "hci0: on")
        #expect(remarks.page("TABLE") == "TABLE\n\nnot listening: hci1: off")
        remarks.listening(true, of: hci1, because: "hci1: on")
        #expect(remarks.page("TABLE") == "TABLE")
    }

    @Test func `The latest four remarks are kept, each once`() {
        var remarks = ScanRemarks()
        remarks.listening(true, of: hci0, because: "hci0: on")
        for text in ["a", "b", "c", "d", "a", "e"] { remarks.add(text) }
        #expect(remarks.page("TABLE") == "TABLE\n\nc\nd\na\ne")
    }
}
