import Base
import Regions
import Testing

@testable import Gateway

/// Which edits of the command line are merged.
@Suite struct RegionEditsTests {
    private static func edit(_ id: Int64, _ topic: String) -> RegionEdit {
        RegionEdit(id: id, tracker: topic, change: .region(.remove(rid: "r\(id)")))
    }

    @Test func `An edit is taken once, however often it is read`() {
        var edits = RegionEdits()
        let first = edits.take([Self.edit(1, "a"), Self.edit(2, "a")], of: ["a"])
        #expect(first.taken.map(\.changes) == [[.remove(rid: "r1"), .remove(rid: "r2")]])
        let again = edits.take([Self.edit(1, "a"), Self.edit(2, "a"), Self.edit(3, "a")], of: ["a"])
        #expect(again.taken.map(\.changes) == [[.remove(rid: "r3")]])
        #expect(edits.take([Self.edit(3, "a")], of: ["a"]).taken.isEmpty)
    }

    @Test func `The mark names the last edit of the tracker`() {
        var edits = RegionEdits()
        let taken = edits.take([Self.edit(4, "b"), Self.edit(7, "b"), Self.edit(5, "a")], of: ["a", "b"]).taken
        #expect(taken.map(\.tracker) == [0, 1])
        let marks = taken.map { if case .editsTaken(let topic, let last) = $0.mark { "\(topic) \(last)" } else { "" } }
        #expect(marks == ["a 5", "b 7"])
    }

    @Test func `Edits of a topic that no tracker has wait, and the log says so`() {
        var edits = RegionEdits()
        let (taken, waiting) = edits.take([Self.edit(1, "gone"), Self.edit(2, "away")], of: ["a"])
        #expect(taken.isEmpty)
        #expect(
            waiting.compactMap(\.logEntry).map { $0.text.contains("wait (2)") && $0.text.contains("away, gone") } == [
                true
            ])
        #expect(edits.take([Self.edit(1, "gone")], of: ["gone"]).taken.count == 1)
    }

    @Test func `The edits of a new file count anew`() {
        var edits = RegionEdits()
        _ = edits.take([Self.edit(9, "a")], of: ["a"])
        edits.forget()
        #expect(edits.take([Self.edit(1, "a")], of: ["a"]).taken.count == 1)
    }
}
