import Configuration
import JSON
import OwnTracks
import Testing

@Suite struct HistoryDaysTests {
    @Test(
        arguments: [(30, 7_408_000, true), (1, 9_913_600, true), (0, 10_000_000, false), (-1, nil, true)]
            as [(Int, Int64?, Bool)])
    func `days is a limit in days, 0 keeps nothing, and -1 is no limit (iOS page)`(
        days: Int, begin: Int64?, keeps: Bool
    ) throws {
        let configuration = try Configuration(["days": .integer(Int64(days))], hostName: "pi")
        #expect(configuration.historyBegin(at: 10_000_000) == begin)
        #expect(configuration.keepsHistory == keeps)
    }
}
