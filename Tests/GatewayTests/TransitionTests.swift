import Base
import Gateway
import OwnTracks
import Testing

@Suite("Transitions")
struct TransitionTests {
    @Test("the message has every member of the contract, sorted, on one line")
    func members() throws {
        var house = try GatewayHarness("lat: 52, lon: 6, tid: \"gw\"")
        house.setWaypoints(GatewayHarness.waypoint("-kitchen", rid: "b4b412"))
        try house.hear()
        let event = try #require(house.drainTexts().first)
        #expect(
            event == """
                owntracks/jane/hall/event {"_type":"transition","acc":10,"desc":"-kitchen","event":"enter","lat":52,\
                "lon":6,"rid":"b4b412","t":"b","tid":"gw","tst":1700000000,"wtst":1600000000}
                """)
    }

    @Test(
        "transitions have QoS 1 and are never retained; locations are, if pubRetain says so", arguments: [true, false])
    func retained(pubRetain: Bool) throws {
        var house = try GatewayHarness("lat: 52, lon: 6, pubRetain: \(pubRetain)")
        house.setWaypoints(GatewayHarness.waypoint("kitchen", rid: "k"))
        try house.hear()
        let messages = house.drainMessages()
        #expect(messages.filter { $0.kind == .transition }.map(\.isRetained) == [false])
        #expect(messages.filter { $0.kind == .location }.map(\.isRetained) == [pubRetain])
        #expect(messages.allSatisfy { $0.qos == .atLeastOnce })
    }

    @Test("a location with the regions follows each transition, where the gateway's place is known")
    func locationFollows() throws {
        var house = try GatewayHarness("lat: 52, lon: 6, tid: \"gw\"")
        house.setWaypoints(GatewayHarness.waypoint("kitchen|1|2", rid: "k"))
        try house.hear()
        #expect(
            house.drainTexts().last == """
                owntracks/jane/hall {"_type":"location","acc":10,"desc":"kitchen","event":"enter","inregions":["kitchen"],"inrids":["k"],"lat":52,\
                "lon":6,"t":"b","tid":"gw","tst":1700000000}
                """)
        house.wait(61)
        #expect(
            house.drainTexts().last == """
                owntracks/jane/hall {"_type":"location","acc":10,"desc":"kitchen","event":"leave","inregions":[],"inrids":[],"lat":52,\
                "lon":6,"t":"b","tid":"gw","tst":1700000060}
                """)
    }

    @Test("the log calls a tracker by its name")
    func logName() throws {
        var house = try GatewayHarness("tid: \"gw\", name: \"Anna's keys\"")
        house.setWaypoints(GatewayHarness.waypoint("Home", rid: "b4b412"))
        try house.hear()
        let lines = house.effects.compactMap { $0.logEntry?.text }
        #expect(lines.contains { $0.hasPrefix("Anna's keys entered Home (b4b412) by beacon ") }, "\(lines)")
    }

    @Test("the log names who came, the region and the beacon, in words and in fields")
    func logEntry() throws {
        var house = try GatewayHarness("tid: \"gw\"")
        house.setWaypoints(GatewayHarness.waypoint("Kitchen|1|2", rid: "b4b412"))
        try house.hear()
        let records = house.effects.compactMap { if case .record(let record) = $0 { record.logEntry } else { nil } }
        let entry = try #require(records.first)
        #expect(entry.priority == .notice)
        #expect(entry.text.hasPrefix("entered Kitchen (b4b412) by beacon "))
        #expect(entry.fields["IBEACON_EVENT"] == "enter")
        #expect(entry.fields["IBEACON_REGION"] == "Kitchen")
        #expect(entry.fields["IBEACON_RID"] == "b4b412")
        #expect(entry.fields["IBEACON_TRACKER"] == "gw")
        #expect(records.count == 1)
    }

    @Test("without a place no location is told")
    func noPlace() throws {
        var house = try GatewayHarness()
        house.setWaypoints(GatewayHarness.waypoint("kitchen", rid: "k"))
        try house.hear()
        #expect(house.drainTexts().count == 1)
    }

    @Test("leave carries the away position, and so does the location after it, until a beacon is inside again")
    func away() throws {
        var house = try GatewayHarness("lat: 52, lon: 6, away: {lat: 53, lon: 7, acc: 20}")
        house.setWaypoints(GatewayHarness.waypoint("kitchen", rid: "k"))
        try house.hear()
        #expect(house.drainTexts().allSatisfy { $0.contains("\"lat\":52") })
        house.wait(61)
        let left = house.drainTexts()
        #expect(left.count == 2)
        #expect(left.allSatisfy { $0.contains("\"acc\":20") && $0.contains("\"lat\":53") })
    }

    @Test("a circle that the gateway stands in counts among its regions; one that it does not stand in, does not")
    func circles() throws {
        var house = try GatewayHarness("lat: 52, lon: 6")
        house.setWaypoints(
            #"{"_type":"waypoint","tst":1,"rid":"h","desc":"home","lat":52.0005,"lon":6,"rad":100},"#
                + #"{"_type":"waypoint","tst":2,"rid":"w","desc":"work","lat":52.01,"lon":6,"rad":100},"#
                + GatewayHarness.waypoint("kitchen", rid: "k"))
        try house.hear()
        #expect(house.drainTexts().last?.contains(#""inregions":["home","kitchen"],"inrids":["h","k"]"#) == true)
    }

    @Test("the retained state says who is inside since when")
    func state() throws {
        var house = try GatewayHarness()
        house.setWaypoints(GatewayHarness.waypoint("kitchen", rid: "a/b"))
        _ = house.drainMessages()
        try house.hear(rssi: -61)
        house.wait(61)
        let states = house.drainMessages().filter { $0.kind == .state }
        #expect(states.map(\.topic) == Array(repeating: "ibeacon-gateway/hall/region/a%2Fb", count: 2))
        #expect(states.allSatisfy { $0.isRetained && !$0.kind.isOwnTracks })
        #expect(
            states.map { String(decoding: $0.payload, as: UTF8.self) } == [
                #"{"desc":"kitchen","rssi":-61,"since":1700000000,"state":"inside"}"#,
                #"{"desc":"kitchen","since":1700000060,"state":"outside"}"#,
            ])
    }

    @Test("while the wall clock is unknown, messages carry the instant that their times are to be made of")
    func unstamped() throws {
        var house = try GatewayHarness(isClockKnown: false)
        house.setWaypoints(GatewayHarness.waypoint("kitchen", rid: "k"))
        try house.hear()
        #expect(house.drainMessages().allSatisfy { $0.stamp == .provisional })
    }
}

@Suite("Monitoring modes")
struct MonitoringTests {
    @Test("quiet publishes no states, no beacons and no location that was not asked for by hand")
    func silence() throws {
        var house = try GatewayHarness("monitoring: -1, ranging: true, lat: 52, lon: 6")
        house.setWaypoints(GatewayHarness.waypoint("kitchen", rid: "k"))
        try house.hear()
        house.command(#"{"_type":"cmd","action":"reportLocation"}"#)
        #expect(house.log.contains { $0.contains("reportLocation is not answered in quiet mode") })
        house.handle(.brokerConnected(isNew: true))
        house.wait(100)
        // The broker may have the state of an earlier run.
        #expect(house.drainMessages().allSatisfy { $0.kind == .state && $0.payload.isEmpty })
        house.handle(.request(.reportLocation(tracker: 0)))
        #expect(house.drainTexts().map { $0.contains(#""t":"u""#) } == [true])
    }

    @Test(
        "What was retained before quiet mode is emptied once, however quiet begins, and comes back when it ends",
        arguments: QuietBegin.allCases)
    func retainedBefore(begin: QuietBegin) throws {
        let regions = "waypoints: [\(GatewayHarness.waypoint("Hall", rid: "h"))]"
        var house = try GatewayHarness(regions)
        house.handle(.brokerConnected(isNew: true))
        try house.hear()
        #expect(house.drainMessages().contains { $0.kind == .state && !$0.payload.isEmpty })
        switch begin {
        case .request: house.handle(.request(.setMonitoring(tracker: 0, .quiet)))
        case .reload: house.handle(.configuration(try GatewayHarness.configuration("monitoring: -1, " + regions)))
        case .start:
            try house.restart("monitoring: -1, " + regions, after: 1)
            _ = house.drainMessages()
            house.handle(.brokerConnected(isNew: false))
        }
        let withdrawals = house.drainMessages()
        #expect(withdrawals.map(\.topic) == ["ibeacon-gateway/hall/region/h"])
        #expect(withdrawals.allSatisfy { $0.isRetained && $0.payload.isEmpty })
        // Not with the transitions of quiet mode, which would tell of them.
        house.wait(100)
        try house.hear()
        #expect(house.drainMessages().isEmpty)
        house.handle(.request(.setMonitoring(tracker: 0, .manual)))
        #expect(house.drainMessages().map { $0.payload.isEmpty } == [false])
    }

    enum QuietBegin: CaseIterable {
        case request, reload, start
    }

    @Test("A quiet tracker does not take the states of the others")
    func oneOfTwo() throws {
        var house = try GatewayHarness(
            """
            waypoints: [\(GatewayHarness.waypoint("Hall", rid: "h"))], trackers: [{deviceId: "anna"}]
            """)
        house.handle(.brokerConnected(isNew: true))
        try house.hear()
        _ = house.drainMessages()
        house.handle(.request(.setMonitoring(tracker: 1, .quiet)))
        #expect(house.drainMessages().map(\.topic) == ["ibeacon-gateway/anna/region/h"])
        house.wait(100)
        #expect(
            Set(house.drainMessages().map(\.topic)) == ["owntracks/jane/hall/event", "ibeacon-gateway/hall/region/h"])
        #expect([0, 1].map { house.gateway.mayPublish(.entityStates, of: $0, at: house.now) } == [true, false])
    }

    @Test("the states that were not published in quiet mode follow when it ends")
    func statesFollow() throws {
        var house = try GatewayHarness("monitoring: -1")
        house.setWaypoints(GatewayHarness.waypoint("kitchen", rid: "k"))
        try house.hear()
        #expect(house.drainMessages().isEmpty)
        house.handle(.request(.setMonitoring(tracker: 0, .significant)))
        let states = house.drainMessages()
        #expect(states.map(\.topic) == ["ibeacon-gateway/hall/region/k"])
        #expect(states.allSatisfy { String(decoding: $0.payload, as: UTF8.self).contains("inside") })
    }

    @Test("quiet sends no region events; leaving quiet says nothing of the past")
    func quiet() throws {
        var house = try GatewayHarness("monitoring: -1")
        house.setWaypoints(
            GatewayHarness.waypoint("kitchen", rid: "k") + ","
                + GatewayHarness.waypoint("switch|1|-1", rid: "s", suffix: ":2"))
        try house.hear()
        #expect(house.drainTexts().isEmpty)
        // A second beacon's region switches to mode 1.
        try house.hear(major: 2)
        #expect(try house.drainEvents().isEmpty)
        house.wait(30)
        try house.hear(major: 2)
        house.wait(31)
        #expect(try house.drainEvents() == ["leave kitchen"])
    }

    @Test func `A location that transitions share is withheld if the mode has become quiet`() throws {
        var house = try GatewayHarness("lat: 52, lon: 6")
        house.setWaypoints(
            (1...40).map { GatewayHarness.waypoint("r\($0)", rid: "r\($0)", suffix: ":1:\($0)") }.joined(separator: ",")
        )
        house.wait(1)
        for minor: UInt16 in 1...40 { try house.hear(minor: minor) }
        _ = house.drainMessages()
        house.handle(.request(.setMonitoring(tracker: 0, .quiet)))
        house.wait(10)
        // What was retained is emptied.
        #expect(house.drainMessages().allSatisfy { $0.kind == .state && $0.payload.isEmpty })
    }

    @Test("Name|1|-1 switches to quiet when it is left, after its own leave was told")
    func switches() throws {
        var house = try GatewayHarness()
        house.setWaypoints(GatewayHarness.waypoint("Home|1|-1", rid: "h"))
        try house.hear()
        house.wait(61)
        #expect(try house.drainEvents() == ["enter Home", "leave Home"])
        #expect(house.gateway.trackers[0].monitoring == .quiet)
    }
}
