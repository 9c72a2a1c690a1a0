import Base
import Beacon
import Testing

@testable import ReadingFeed

/// What a gateway publishes of the tags it hears, second by second.
@Suite struct ReadingFeedTests {
    private let radio = Receiver(index: 0)
    private let jane = BeaconID(uuid: BeaconUUID(high: 1, low: 2), major: 1, minor: 7)
    private let john = BeaconID(uuid: BeaconUUID(high: 1, low: 2), major: 1, minor: 8)

    private func instant(_ seconds: Double) -> MonotonicInstant { .zero.advanced(by: .seconds(seconds)) }

    private func sighting(_ beacon: BeaconID, _ level: Int8, by receiver: Receiver? = nil) -> Sighting {
        Sighting(
            beacon: beacon, measuredPower: MeasuredPower(dBm: -59), rssi: RSSI(reported: level),
            receiver: receiver ?? radio)
    }

    /// A feed whose first second begins at 100 s, with a radio that listens.
    private func feed(_ tags: [BeaconID]) -> ReadingFeed {
        var feed = ReadingFeed(startID: "b")
        _ = feed.handle(.listening(radio, true), at: instant(90))
        _ = feed.handle(.reports(100), at: instant(100))
        _ = feed.handle(.tags(tags), at: instant(100))
        return feed
    }

    private func text(_ messages: [ReadingFeed.Message]) -> [String] {
        messages.map { message in
            switch message {
            case .heard(let payload), .node(_, let payload): String(decoding: payload, as: UTF8.self)
            case .nearby(let beacons): "\(beacons)"
            }
        }
    }

    @Test func aSecondIsSummedUpInOneMessage() {
        var feed = feed([jane, john])
        for (offset, level) in [(0.1, Int8(-70)), (0.2, -68), (0.3, -90), (0.88, -71)] {
            #expect(feed.handle(.sighting(sighting(jane, level)), at: instant(100 + offset)).isEmpty)
        }
        _ = feed.handle(.reports(104), at: instant(101))
        #expect(feed.nextDeadline == instant(101))
        #expect(
            text(feed.handle(.tick, at: instant(101))) == [
                #"{"v":1,"boot":"b","seq":0,"at":101000,"listening":1000,"reports":4,"beacons":["#
                    + #"{"id":"00000000-0000-0001-0000-000000000002:1:7","n":4,"rssi":-71,"max":-68,"power":-59,"#
                    + #""age":120}]}"#
            ])
    }

    @Test func `The beacon of another gateway is reported like that of a tag, and makes no message of a node`() {
        let gateway = BeaconID(uuid: BeaconUUID(high: 7, low: 8), major: 0, minor: 4)
        var feed = ReadingFeed(startID: "b", actsAsNode: true)
        _ = feed.handle(.tags([jane], gateways: [gateway]), at: instant(100))
        _ = feed.handle(.sighting(sighting(gateway, -70)), at: instant(100.2))
        let messages = feed.handle(.tick, at: instant(101))
        #expect(messages.count == 1 && text(messages)[0].contains(#""id":"\#(gateway)","n":1,"rssi":-70"#))
    }

    @Test func `The same gateways in another list do not cost the second, and others do`() {
        let gateway = BeaconID(uuid: BeaconUUID(high: 7, low: 8), major: 0, minor: 4)
        var feed = feed([jane])
        _ = feed.handle(.tags([jane], gateways: [gateway]), at: instant(100))
        _ = feed.handle(.sighting(sighting(gateway, -70)), at: instant(100.2))
        _ = feed.handle(.tags([jane], gateways: [gateway]), at: instant(100.4))
        #expect(text(feed.handle(.tick, at: instant(101)))[0].contains("\(gateway)"))
        _ = feed.handle(.sighting(sighting(gateway, -70)), at: instant(101.2))
        _ = feed.handle(.tags([jane]), at: instant(101.4))
        #expect(!text(feed.handle(.tick, at: instant(102))).joined().contains("\(gateway)"))
    }

    @Test func `There is room for the gateways of a site beside as many tags as there may be`() {
        let tags = (0..<UInt16(clamping: ReadingFeed.mostTags)).map {
            BeaconID(uuid: BeaconUUID(high: 1, low: 2), major: 2, minor: $0)
        }
        let gateway = BeaconID(uuid: BeaconUUID(high: 7, low: 8), major: 0, minor: 4)
        var feed = ReadingFeed(startID: "b")
        _ = feed.handle(.tags(tags, gateways: [gateway]), at: instant(100))
        _ = feed.handle(.sighting(sighting(gateway, -70)), at: instant(100.2))
        #expect(text(feed.handle(.tick, at: instant(101)))[0].contains("\(gateway)"))
    }

    private func telemetry(_ beacon: BeaconID, _ level: UInt8, isCertain: Bool = true) throws -> ReadingFeed.Input {
        .telemetry(
            BeaconTelemetry(
                beacon: beacon, battery: try #require(BatteryReading(level: level)), isCertain: isCertain))
    }

    @Test func `What a tag says of its battery is in its next reading, once, if it is certain`() throws {
        var feed = feed([jane, john])
        #expect(feed.handle(try telemetry(jane, 8), at: instant(100.1)).isEmpty)
        #expect(feed.handle(try telemetry(john, 9, isCertain: false), at: instant(100.1)).isEmpty)
        let stranger = BeaconID(uuid: BeaconUUID(high: 9, low: 9), major: 1, minor: 1)
        #expect(feed.handle(try telemetry(stranger, 7), at: instant(100.1)).isEmpty)
        #expect(text(feed.handle(.tick, at: instant(101))).isEmpty, "a battery alone is no message")
        _ = feed.handle(.sighting(sighting(jane, -50)), at: instant(102.5))
        _ = feed.handle(.sighting(sighting(john, -60)), at: instant(102.6))
        let message = try #require(text(feed.handle(.tick, at: instant(103))).first)
        #expect(message.contains(#":1:7","n":1,"rssi":-50,"max":-50,"power":-59,"age":500,"battery":8}"#), "\(message)")
        #expect(message.contains(#":1:8","n":1,"rssi":-60,"max":-60,"power":-59,"age":400}"#), "\(message)")
        _ = feed.handle(.sighting(sighting(jane, -50)), at: instant(103.5))
        #expect(!text(feed.handle(.tick, at: instant(104))).contains { $0.contains("battery") })
    }

    @Test func eachSecondBeginsAnew() throws {
        var feed = feed([jane, john])
        _ = feed.handle(.sighting(sighting(jane, -50)), at: instant(100.5))
        _ = feed.handle(.tick, at: instant(101))
        _ = feed.handle(.sighting(sighting(john, -60)), at: instant(101.5))
        let message = try #require(text(feed.handle(.tick, at: instant(102))).first)
        #expect(message.contains(#""seq":1,"at":102000"#))
        #expect(message.contains(#":1:8","n":1,"rssi":-60,"max":-60"#))
        #expect(!message.contains(":1:7"))
    }

    @Test func aSightingAfterTheEndOfASecondEndsItFirst() throws {
        var feed = feed([jane])
        _ = feed.handle(.sighting(sighting(jane, -50)), at: instant(100.5))
        let messages = text(feed.handle(.sighting(sighting(jane, -80)), at: instant(103.25)))
        #expect(messages.count == 1)
        #expect(try #require(messages.first).contains(#""at":101000"#))
        #expect(feed.nextDeadline == instant(104))
    }

    @Test func withoutTagsThereIsNothingToDo() {
        var feed = ReadingFeed(startID: "b")
        _ = feed.handle(.listening(radio, true), at: instant(1))
        #expect(feed.handle(.sighting(sighting(jane, -50)), at: instant(2)).isEmpty)
        #expect(feed.nextDeadline == nil)
        #expect(feed.handle(.tick, at: instant(100)).isEmpty)
    }

    @Test func aMissingTagListTurnsTheFeedOff() {
        var feed = feed([jane])
        _ = feed.handle(.sighting(sighting(jane, -50)), at: instant(100.5))
        _ = feed.handle(.tags(nil), at: instant(100.6))
        #expect(!feed.isOn)
        #expect(feed.nextDeadline == nil)
        #expect(feed.handle(.tick, at: instant(200)).isEmpty)
    }

    @Test func aListWithoutTagsLeavesTheSignOfLife() {
        var feed = feed([])
        #expect(feed.isOn)
        #expect(feed.nextDeadline == instant(110))
        #expect(feed.handle(.tick, at: instant(110)).count == 1)
    }

    @Test func reportsAreCountedFromTheBeginningAgainWhenAnAdapterGoes() throws {
        var feed = feed([jane])
        _ = feed.handle(.reports(7), at: instant(110))
        #expect(try #require(text(feed.handle(.tick, at: instant(110))).first).contains(#""reports":7,"#))
    }

    @Test func otherBeaconsAreNoReadings() {
        var feed = feed([john])
        _ = feed.handle(.sighting(sighting(jane, -50)), at: instant(100.5))
        #expect(feed.nextDeadline == instant(110))
    }

    @Test func aGatewayThatHearsNoTagSaysSoEveryTenSeconds() {
        var feed = feed([jane])
        #expect(feed.handle(.tick, at: instant(109)).isEmpty)
        #expect(
            text(feed.handle(.tick, at: instant(110))) == [
                #"{"v":1,"boot":"b","seq":0,"at":110000,"listening":1000,"reports":0,"beacons":[]}"#
            ])
        #expect(feed.nextDeadline == instant(120))
    }

    @Test func theLevelOfAPacketMayBeUnknown() throws {
        var feed = feed([jane])
        _ = feed.handle(.sighting(sighting(jane, 127)), at: instant(100.5))
        let message = try #require(text(feed.handle(.tick, at: instant(101))).first)
        #expect(message.contains(#""n":1,"power":-59"#))
        #expect(!message.contains("rssi"))
    }

    /// What counts as listening time of a second: (what happened at which instant, milliseconds).
    @Test(
        arguments: [
            ([(100.0, Input.duty(0.5))], 500),
            ([(100.25, .listening(0, false))], 250),
            ([(100.25, .listening(0, false)), (100.75, .listening(0, true))], 500),
            ([(100.0, .duty(0.25)), (100.5, .listening(1, true))], 625),
            ([(100.0, .listening(1, true))], 1000),
        ] as [([(Double, Input)], Int)])
    func listeningIsTheTimeInWhichAnyRadioWasOn(_ events: [(Double, Input)], _ milliseconds: Int) throws {
        var feed = feed([jane])
        for (second, event) in events {
            switch event {
            case .duty(let duty): _ = feed.handle(.scanDuty(radio, duty), at: instant(second))
            case .listening(let index, let isListening):
                _ = feed.handle(.listening(Receiver(index: index), isListening), at: instant(second))
            }
        }
        _ = feed.handle(.sighting(sighting(jane, -50)), at: instant(100.9))
        let message = try #require(text(feed.handle(.tick, at: instant(101))).first)
        #expect(message.contains(#""listening":\#(milliseconds),"#))
    }

    enum Input: Sendable {
        case duty(Double)
        case listening(UInt16, Bool)
    }

    @Test func aDeafRadioIsSeenInAnEmptyMessage() throws {
        var feed = feed([jane])
        _ = feed.handle(.listening(radio, false), at: instant(104))
        let message = try #require(text(feed.handle(.tick, at: instant(110))).first)
        #expect(message.contains(#""listening":0,"#))
    }

    @Test func moreThan256TagsGoIntoSeveralMessagesOfTheSameSecond() {
        let tags = (0..<300).map { BeaconID(uuid: jane.uuid, major: 9, minor: $0) }
        var feed = feed(tags)
        for tag in tags { _ = feed.handle(.sighting(sighting(tag, -50)), at: instant(100.5)) }
        let messages = text(feed.handle(.tick, at: instant(101)))
        #expect(messages.map { $0.components(of: #""id""#) } == [256, 44])
        #expect(messages.allSatisfy { $0.contains(#""at":101000"#) })
        #expect(messages.map { $0.contains(#""seq":1,"#) } == [false, true])
    }

    @Test func aSiteHasAtMostTenThousandTags() {
        let tags = (0..<10_001).map { BeaconID(uuid: jane.uuid, major: UInt16($0 >> 8), minor: UInt16($0 & 255)) }
        var feed = feed(tags)
        _ = feed.handle(.sighting(sighting(tags[10_000], -50)), at: instant(100.5))
        #expect(feed.nextDeadline == instant(110))
        _ = feed.handle(.sighting(sighting(tags[9_999], -50)), at: instant(100.5))
        #expect(feed.nextDeadline == instant(101))
    }

    @Test func `A feed that is switched on again leaves a number out, because nobody knows what was heard meanwhile`() {
        var feed = feed([jane])
        _ = feed.handle(.sighting(sighting(jane, -50)), at: instant(100.5))
        #expect(text(feed.handle(.tick, at: instant(101))).map { $0.contains(#""seq":0,"#) } == [true])
        for list in [nil, nil, [jane]] { _ = feed.handle(.tags(list), at: instant(101.5)) }
        _ = feed.handle(.sighting(sighting(jane, -50)), at: instant(101.7))
        #expect(text(feed.handle(.tick, at: instant(102.5))).map { $0.contains(#""seq":2,"#) } == [true])
    }

    /// Seconds after 101 at which the gateway goes on, and the number of its next message. It should have sent one each second.
    @Test(arguments: [(1.0, 1), (2.9, 1), (3.1, 2), (12, 2)], [true, false])
    func `A gateway that stood still for more than two seconds leaves a number out`(
        _ end: (seconds: Double, number: Int), isHeard: Bool
    ) {
        var feed = feed([jane])
        _ = feed.handle(.sighting(sighting(jane, -50)), at: instant(100.5))
        _ = feed.handle(.tick, at: instant(101))
        if isHeard { _ = feed.handle(.sighting(sighting(jane, -50)), at: instant(101)) }
        let messages = text(feed.handle(.tick, at: instant(101 + end.seconds)))
        #expect(messages.map { $0.contains(#""seq":\#(end.number),"#) } == [true])
    }

    @Test func `A gateway that hears no tag is not late when it speaks every ten seconds`() {
        var feed = feed([jane])
        for number in 0..<3 {
            let messages = text(feed.handle(.tick, at: instant(110 + 10 * Double(number))))
            #expect(messages.map { $0.contains(#""seq":\#(number),"#) } == [true])
        }
    }

    @Test func `A list that is sent again costs no reading`() {
        var feed = feed([jane, john])
        _ = feed.handle(.sighting(sighting(jane, -50)), at: instant(100.5))
        _ = feed.handle(.tags([john, jane]), at: instant(100.6))
        #expect(text(feed.handle(.tick, at: instant(101))).map { $0.components(of: #""id""#) } == [1])
        _ = feed.handle(.tags([john, jane]), at: instant(101.5))
        #expect(feed.nextDeadline == instant(102), "and the next message comes as soon as before")
    }

    @Test func aTagThatIsListedTwiceIsOneTag() {
        var feed = feed([jane, jane])
        _ = feed.handle(.sighting(sighting(jane, -50)), at: instant(100.5))
        #expect(text(feed.handle(.tick, at: instant(101))).map { $0.components(of: #""id""#) } == [1])
    }
}

extension String {
    /// How often `part` occurs.
    fileprivate func components(of part: String) -> Int {
        var rest = self[...]
        var count = 0
        while let next = rest.indices.first(where: { rest[$0...].hasPrefix(part) }) {
            count += 1
            rest = rest[rest.index(after: next)...]
        }
        return count
    }
}
