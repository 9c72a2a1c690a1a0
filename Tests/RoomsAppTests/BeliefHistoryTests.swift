import Base
import Testing

@testable import RoomsApp

/// What is kept of a tag for its drawing.
@Suite struct BeliefHistoryTests {
    private func second(_ second: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: second * 1_000_000_000) }

    private func columns(_ history: BeliefHistory, _ room: String, at now: Int64) -> [String] {
        (history.series(ofTag: "jane", at: second(now))[room] ?? "").split(
            separator: ",", omittingEmptySubsequences: false
        ).map(String.init)
    }

    @Test func `Seconds of one step are one column, and the newest is the last`() {
        var history = BeliefHistory()
        history.record(tag: "jane", [("hall", 0.4), ("kitchen", 0.6)], at: second(1000))
        history.record(tag: "jane", [("hall", 0.1), ("kitchen", 0.9)], at: second(1004))
        let kitchen = columns(history, "kitchen", at: 1004)
        #expect(kitchen.count == BeliefHistory.columns)
        #expect(kitchen.last == "90")
        #expect(columns(history, "hall", at: 1004).last == "10")
        #expect(kitchen.dropLast().allSatisfy { $0.isEmpty })
    }

    @Test func `A room that is not believed in is 0, and a time without a page is empty`() {
        var history = BeliefHistory()
        history.record(tag: "jane", [("kitchen", 1)], at: second(1000))
        history.record(tag: "jane", [], at: second(1010))
        #expect(columns(history, "kitchen", at: 1010).suffix(3) == ["100", "", "0"])
    }

    @Test func `What is older than five minutes is forgotten`() {
        var history = BeliefHistory()
        history.record(tag: "jane", [("kitchen", 1)], at: second(1000))
        history.record(tag: "jane", [("hall", 1)], at: second(1300))
        #expect(history.series(ofTag: "jane", at: second(1300)).keys.sorted() == ["hall"])
        #expect(history.series(ofTag: "jane", at: second(1700)).isEmpty)
    }

    @Test func `Rooms that are hardly probable are left out`() {
        var history = BeliefHistory()
        history.record(tag: "jane", [("kitchen", 0.97), ("hall", 0.03)], at: second(1000))
        #expect(history.series(ofTag: "jane", at: second(1000)).keys.sorted() == ["kitchen"])
    }

    @Test func `So many tags have a history, and one that is gone makes room`() {
        var history = BeliefHistory()
        for tag in 0..<100 { history.record(tag: "t\(tag)", [("kitchen", 1)], at: second(1000)) }
        #expect(history.count == BeliefHistory.mostTags)
        history.keepOnly(["t1", "t99"])
        #expect(history.count == 1)
        history.record(tag: "t99", [("kitchen", 1)], at: second(1000))
        #expect(history.count == 2)
    }
}
