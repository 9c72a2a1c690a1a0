import Configuration
import JSON
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

    @Test(arguments: [(nil, 7), (30, 30), (0, 0), (-1, -1)] as [(Int?, Int)])
    func `The history of rooms is kept as long as that of the gateway, unless rooms.days says otherwise`(
        days: Int?, expected: Int
    ) throws {
        var rooms: [String: JSONValue] = ["site": "home"]
        if let days { rooms["days"] = .integer(Int64(days)) }
        let configuration = try Configuration(["days": 7, "rooms": .object(rooms)], hostName: "pi")
        #expect(configuration.roomHistoryDays == expected)
    }
}
