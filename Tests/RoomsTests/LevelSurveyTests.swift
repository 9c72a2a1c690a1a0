import Base
import Rooms
import Testing

/// Gateways that hear each other's beacons once a minute, in a row of places: each metre of distance takes 2 dB.
private struct Home {
    var places: [String: Float]
    var gains: [String: Float] = [:]
    var powers: [String: Float] = [:]
    /// dB that each gateway loses in both directions.
    var covers: [String: Float] = [:]
    /// dB that the way between two gateways takes less than usual.
    var gifts: [Set<String>: Float] = [:]
    /// Gateways that neither send nor hear.
    var off: Set<String> = []
    var survey = LevelSurvey()
    private(set) var now = MonotonicInstant.zero
    private var minute = 0

    /// The mean level of a sender at a receiver, dBm; nil: not known.
    func level(of sender: String, at receiver: String) -> Float? {
        survey.stored.first { $0.sender == sender && $0.receiver == receiver }?.mean
    }

    init(_ places: [String: Float]) { self.places = places }

    /// Levels differ from minute to minute, and not by chance: a test says the same in each run.
    mutating func pass(minutes: Int) {
        for _ in 0..<minutes {
            minute += 1
            now = .zero.advanced(by: .seconds(60 * minute))
            for (sender, there) in places where !off.contains(sender) {
                for (receiver, here) in places where receiver != sender && !off.contains(receiver) {
                    let loss = covers[sender, default: 0] + covers[receiver, default: 0]
                    let level =
                        -50 - 2 * abs(there - here) + gains[receiver, default: 0] + powers[sender, default: 0] - loss
                        + gifts[[sender, receiver], default: 0]
                    survey.hear(sender: sender, receiver: receiver, level: level + Float(minute / 3 % 3 - 1), at: now)
                }
            }
            survey.tick(at: now)
        }
    }

    static let day = 1440
    static var five: Home { Home(["hall": 0, "kitchen": 4, "bath": 8, "study": 12, "attic": 16]) }
}

@Suite struct LevelSurveyTests {
    @Test func `A gateway that was carried to another room is named within ten minutes, and no other one is`() {
        var home = Home.five
        home.pass(minutes: Home.day)
        #expect(home.survey.changes.isEmpty)
        home.places["hall"] = 17
        home.pass(minutes: 10)
        #expect(home.survey.changes.map(\.gateway) == ["hall"])
        #expect(home.survey.changes.first?.kind == .moved)
        #expect(home.survey.changes.first?.neighbours == 4)
    }

    @Test func `Two gateways that were carried at the same time are both named`() {
        var home = Home(["a": 0, "b": 3, "c": 6, "d": 9, "e": 12, "f": 15, "g": 18, "h": 21])
        home.pass(minutes: Home.day)
        (home.places["a"], home.places["h"]) = (14, 5)
        home.pass(minutes: 10)
        #expect(home.survey.changes.map(\.gateway) == ["a", "h"])
    }

    @Test func `Where half of the gateways were carried away, those that stayed are not named`() {
        var home = Home(["a": 0, "b": 3, "c": 6, "d": 9, "e": 12, "f": 15])
        home.pass(minutes: Home.day)
        (home.places["a"], home.places["c"], home.places["e"]) = (25, 40, 55)
        home.pass(minutes: 10)
        #expect(home.survey.changes.map(\.gateway) == ["a", "c", "e"])
    }

    @Test
    func
        `What takes the same from all levels of a gateway covers it, and is named only when it has lasted for ten hours`()
    {
        var home = Home.five
        home.pass(minutes: Home.day)
        home.covers["bath"] = 10
        home.pass(minutes: 9 * 60)
        #expect(home.survey.changes.isEmpty)
        home.pass(minutes: 2 * 60)
        #expect(home.survey.changes.map(\.kind) == [.covered])
        #expect(home.survey.changes.first?.gateway == "bath")
        #expect((home.survey.changes.first.map(\.decibels) ?? 0) < -8)
    }

    @Test func `Two of four levels that rise far name a gateway at once: no body and no door gives so much`() {
        var home = Home.five
        home.pass(minutes: Home.day)
        home.gifts = [["hall", "attic"]: 18, ["hall", "study"]: 14]
        home.pass(minutes: 10)
        #expect(home.survey.changes.map(\.gateway) == ["hall"])
        #expect(home.survey.changes.first?.kind == .moved)
    }

    @Test func `As far down, the same levels name nothing: two people may sit in the way`() {
        var home = Home.five
        home.pass(minutes: Home.day)
        home.gifts = [["hall", "attic"]: -18, ["hall", "study"]: -14]
        home.pass(minutes: 10)
        #expect(home.survey.changes.isEmpty)
    }

    @Test func `That all levels of a gateway rise a little is no move: a person who often sits before it is away`() {
        var home = Home(["a": 0, "b": 3, "c": 6, "d": 9, "e": 12, "f": 15, "g": 18, "h": 21])
        home.pass(minutes: Home.day)
        for other in ["a", "b", "c", "e", "f", "g", "h"] { home.gifts[["d", other]] = 6 }
        home.pass(minutes: 12 * 60)
        #expect(home.survey.changes.isEmpty)
    }

    @Test func `What no body takes from all levels is a move at once`() {
        var home = Home.five
        home.pass(minutes: Home.day)
        home.covers["bath"] = 25
        home.pass(minutes: 10)
        #expect(home.survey.changes.map(\.kind) == [.moved])
    }

    @Test func `A gateway that is carried back is no longer named after a quarter of an hour`() {
        var home = Home.five
        home.pass(minutes: Home.day)
        home.places["hall"] = 17
        home.pass(minutes: 60)
        home.places["hall"] = 0
        home.pass(minutes: 21)
        #expect(home.survey.changes.isEmpty)
    }

    @Test func `The place that a person accepts is learned anew`() {
        var home = Home.five
        home.pass(minutes: Home.day)
        home.places["hall"] = 17
        home.pass(minutes: 60)
        home.survey.accept(gateway: "hall")
        #expect(home.survey.changes.isEmpty)
        #expect(home.level(of: "hall", at: "attic") == nil)
        home.pass(minutes: Home.day)
        #expect(home.survey.changes.isEmpty)
        #expect(abs((home.level(of: "hall", at: "attic") ?? 0) + 52) < 1)
    }

    @Test func `A gateway that is moved is not learned in its new place while it is named`() {
        var home = Home.five
        home.pass(minutes: Home.day)
        home.places["hall"] = 17
        home.pass(minutes: 3 * Home.day)
        #expect(home.survey.changes.map(\.gateway) == ["hall"])
    }

    @Test func `In the first half of a day nothing is named`() {
        var home = Home.five
        home.pass(minutes: 600)
        home.places["hall"] = 17
        home.pass(minutes: 60)
        #expect(home.survey.changes.isEmpty)
    }

    @Test func `With two gateways nothing tells which one was moved`() {
        var home = Home(["hall": 0, "kitchen": 4])
        home.pass(minutes: Home.day)
        home.places["hall"] = 40
        home.pass(minutes: 60)
        #expect(home.survey.changes.isEmpty)
    }

    @Test func `A gateway that is off for an hour is not moved, and neither are the others`() {
        var home = Home.five
        home.pass(minutes: Home.day)
        home.off = ["hall"]
        home.pass(minutes: 60)
        #expect(home.survey.changes.isEmpty)
        home.off = []
        home.pass(minutes: 60)
        #expect(home.survey.changes.isEmpty)
    }

    @Test func `A survey that is stored and read goes on as the other would have`() {
        var home = Home.five
        home.pass(minutes: Home.day)
        home.survey = LevelSurvey(home.survey.stored)
        home.pass(minutes: 30)
        #expect(home.survey.changes.isEmpty)
        home.places["hall"] = 17
        home.pass(minutes: 10)
        #expect(home.survey.changes.map(\.gateway) == ["hall"])
    }

    @Test(arguments: [
        LevelSurvey.StoredPair(sender: "a", receiver: "a", mean: -60, variance: 4, blocks: 300),
        .init(sender: "a", receiver: "b", mean: .nan, variance: 4, blocks: 300),
        .init(sender: "a", receiver: "b", mean: -60, variance: -1, blocks: 300),
        .init(sender: "a", receiver: "b", mean: -60, variance: .infinity, blocks: 300),
        .init(sender: "a", receiver: "b", mean: -60, variance: 4, blocks: 0),
    ])
    func `What is stored and can be no reference is left out`(_ pair: LevelSurvey.StoredPair) {
        #expect(LevelSurvey([pair]).stored.isEmpty)
    }

    @Test func `A gateway that is gone is forgotten, and the others keep their levels`() {
        var home = Home.five
        home.places["cellar"] = 20
        home.pass(minutes: Home.day)
        let before = home.level(of: "study", at: "attic")
        home.survey.forget(gateway: "hall")
        home.places["hall"] = nil
        #expect(home.level(of: "hall", at: "attic") == nil)
        #expect(before != nil && home.level(of: "study", at: "attic") == before)
        #expect(home.survey.stored.count == 20)
        home.places["attic"] = -1
        home.pass(minutes: 10)
        #expect(home.survey.changes.map(\.gateway) == ["attic"])
    }

    @Test func `At most 256 gateways and 8192 pairs are kept, and what is beyond is counted`() {
        var survey = LevelSurvey()
        for sender in 0..<300 {
            for receiver in 0..<40 {
                survey.hear(
                    sender: "\(sender)", receiver: "\(receiver)", level: -60, at: .zero.advanced(by: .seconds(1)))
            }
        }
        survey.tick(at: .zero.advanced(by: .seconds(200)))
        #expect(survey.stored.count == LevelSurvey.mostPairs)
        let (ofPairs, ofGateways) = (256 * 40 - 40 - LevelSurvey.mostPairs, 44 * 40)
        #expect(survey.droppedReadings == ofPairs + ofGateways)
    }

    @Test func `Of very many gateways that change at once a few are named, and no block takes long`() {
        var home = Home(Dictionary(uniqueKeysWithValues: (0..<32).map { ("\($0)", Float($0)) }))
        home.pass(minutes: Home.day)
        for place in 0..<32 where place % 2 == 0 { home.places["\(place)"] = Float((place + 16) % 32) }
        home.places["1"] = 30
        home.pass(minutes: 10)
        #expect((1...LevelSurvey.mostSuspects).contains(home.survey.changes.count))
    }

    @Test func `By how much more a gateway measures follows from the two directions of its links`() throws {
        var home = Home.five
        home.gains = ["hall": 8, "attic": -4]
        home.pass(minutes: Home.day)
        let offsets = home.survey.offsets
        // Relative to the mean of all, .8 dB; a quarter of a difference may be what is sent.
        for (gateway, gain) in [("hall", 7.2), ("attic", -4.8), ("kitchen", -0.8)] {
            #expect(abs(try #require(offsets[gateway]) - 0.75 * Float(gain)) < 0.2, "\(gateway)")
        }
    }

    @Test func `While no link has both directions nothing is known of how gateways measure`() {
        var home = Home.five
        home.pass(minutes: 600)
        #expect(home.survey.offsets.isEmpty)
    }

    @Test func `Groups that do not hear each other are compared each in itself`() throws {
        var survey = LevelSurvey()
        let levels: [(String, String, Float)] = [
            ("hall", "bath", -60), ("bath", "hall", -52), ("attic", "study", -60), ("study", "attic", -60),
        ]
        for minute in 0..<Home.day {
            let now = MonotonicInstant.zero.advanced(by: .seconds(60 * minute))
            for (sender, receiver, level) in levels {
                survey.hear(sender: sender, receiver: receiver, level: level, at: now)
            }
        }
        #expect(survey.offsets == ["hall": 3, "bath": -3, "attic": 0, "study": 0])
    }

    @Test func `What gateways hear of each other is told as if all sent alike, and as each measures it`() throws {
        var home = Home.five
        (home.gains, home.powers) = (["hall": 6], ["attic": 4])
        home.pass(minutes: Home.day)
        let levels = home.survey.levels()
        #expect(levels.pairs.count == 20 && levels.offsets == home.survey.offsets)
        // Relative to the mean: a quarter of what the two directions differ by is taken for what is sent.
        for (sender, receiver, level) in [
            ("kitchen", "bath", -58.1), ("hall", "kitchen", -56.6), ("attic", "bath", -63.1),
        ] {
            let pair = try #require(levels.pairs.first { $0.sender == sender && $0.receiver == receiver })
            #expect(abs(pair.level - Float(level)) < 0.3, "\(sender) \(pair.level)")
        }
        #expect(home.survey.levels(without: ["hall"]).pairs.count == 12)
    }

    @Test func `What is not ready is not told`() {
        var home = Home.five
        home.pass(minutes: 600)
        #expect(home.survey.levels().pairs.isEmpty)
    }

    @Test func `Levels differ by a decibel, by a pair, or by how a gateway measures`() {
        let known = SurveyedLevels(
            pairs: [SurveyedLevels.Pair(sender: "a", receiver: "b", level: -60)], offsets: ["a": 2])
        for (sender, level, offset, differs) in [
            ("a", -60.9, 2, false), ("a", -61, 2, true), ("c", -60, 2, true), ("a", -60, 2.5, true),
            ("a", -60, 2.4, false),
        ] as [(String, Float, Float, Bool)] {
            let other = SurveyedLevels(
                pairs: [SurveyedLevels.Pair(sender: sender, receiver: "b", level: level)], offsets: ["a": offset])
            #expect(other.differs(from: known, by: 1) == differs, "\(sender) \(level) \(offset)")
        }
        #expect(SurveyedLevels().differs(from: known, by: 1))
    }
}
