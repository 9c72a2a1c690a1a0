import Base
import Regions
import Testing

@testable import RoomsApp

/// The visits of `rooms history`, from the begins and ends that are stored.
struct VisitsTests {
    private func visits(_ entries: [(Int64, TransitionEvent, String)]) -> [[String]] {
        var visits = Visits(names: [:])
        for (second, event, room) in entries {
            visits.add(
                PastTransition(
                    tracker: "owntracks/site/jane", rid: room, name: room, event: event, beacon: nil, timestamp: second,
                    stamp: .exact, happened: .zero))
        }
        return visits.list.map {
            [$0.room, $0.from.map(String.init) ?? "?", $0.isOver ? $0.to.map(String.init) ?? "?" : "…"]
        }
    }

    @Test(
        "What is not stored of a visit is left open",
        arguments: [
            ([(1, .enter, "hall"), (2, .leave, "hall")], [["hall", "1", "2"]]),
            ([(1, .enter, "hall")], [["hall", "1", "…"]]),
            ([(2, .leave, "hall")], [["hall", "?", "2"]]),
            // Without a stored end the visit ends with the next one.
            ([(1, .enter, "hall"), (2, .enter, "attic")], [["hall", "1", "2"], ["attic", "2", "…"]]),
            // The tag went from the hall to the attic at an unknown time.
            ([(1, .enter, "hall"), (9, .leave, "attic")], [["hall", "1", "?"], ["attic", "?", "9"]]),
        ] as [([(Int64, TransitionEvent, String)], [[String]])])
    func ends(entries: [(Int64, TransitionEvent, String)], expected: [[String]]) {
        #expect(visits(entries) == expected)
    }
}
