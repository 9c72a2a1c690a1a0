import Base
import Beacon
import Scanning
import TestSupport
import Testing

/// A controller and the advertisers around it, in virtual time.
private struct Bench {
    var health = ScanHealth()
    var now = MonotonicInstant.zero
    /// Addresses with their intervals.
    var advertisers: [(address: UInt64, interval: Duration)] = []
    /// dBm
    var strength: Int8 = -65
    var isDeaf = false
    var isHung = false
    /// Whether an answer, good or bad, does not come at all.
    var isUnanswering = false
    /// Whether no probe can be sent.
    var isUnaskable = false
    /// Share of the advertisements that are heard, chosen at random.
    var duty = 1.0
    private var random = SplitMix64(seed: 21)
    private(set) var advice: [ScanHealth.Advice] = []
    private(set) var ticks = 0
    private var nextTick = MonotonicInstant.zero
    /// How long each advertiser has been silent while that counted, and those that presence would have given up for it.
    private var isOff = false
    private var intervals: [UInt64: Duration] = [:]
    private var silences: [UInt64: Duration] = [:]
    private(set) var left: Set<UInt64> = []

    init(_ intervals: [Duration]) {
        advertisers = intervals.enumerated().map { (UInt64($0.offset + 1), $0.element) }
        health.scanStarted(at: now)
    }

    /// Plays in steps of 100 ms, following the advice as a scanner would; a reset mends the controller.
    mutating func play(_ duration: Duration, resetHelps: Bool = true) {
        for _ in 0..<Int(duration.inSeconds * 10) {
            now = now.advanced(by: .milliseconds(100))
            if !isDeaf && !isHung {
                for one in advertisers where now.nanoseconds % one.interval.nanoseconds == 0 {
                    if duty < 1, Double(random.next() >> 11) / 0x1p53 >= duty { continue }
                    let address = DeviceAddress(value: one.address, isRandom: true)
                    health.heard(AdvertisingReport(address: address, rssi: RSSI(reported: strength)), at: now)
                    silences[one.address] = .zero
                    intervals[one.address] = one.interval
                }
            }
            countSilence()
            guard now >= nextTick else { continue }
            ticks += 1
            var next = health.tick(at: now)
            while let current = next {
                advice.append(current)
                next = follow(current, resetHelps: resetHelps)
            }
            nextTick = now.advanced(by: health.nextTick(after: now))
        }
    }

    /// Presence gives up a beacon after 3 s and four intervals at the earliest.
    private mutating func countSilence() {
        guard !health.isDoubtful, !health.isUncertain, !isOff else { return }
        for (address, silence) in silences {
            silences[address] = silence + .milliseconds(100)
            if silence > max(.seconds(3), intervals[address, default: .zero] * 4.2) { left.insert(address) }
        }
    }

    /// The adapter is switched off and on.
    mutating func powerCycle(_ duration: Duration) {
        health.scanStopped(at: now)
        isOff = true
        let wasDeaf = isDeaf
        isDeaf = true
        play(duration)
        (isDeaf, isOff) = (wasDeaf, false)
        health.scanStarted(at: now)
    }

    private mutating func follow(_ advice: ScanHealth.Advice, resetHelps: Bool) -> ScanHealth.Advice? {
        switch advice {
        case .probe where isUnanswering: return nil
        case .probe where isUnaskable: return health.probeNotSent(at: now)
        case .probe: return isHung ? health.probeFailed(at: now) : health.probeAnswered(at: now)
        case .restartScan: health.scanStarted(at: now)
        case .reset:
            if resetHelps { (isDeaf, isHung) = (false, false) }
            health.scanStopped(at: now)
            health.scanStarted(at: now)
        }
        return nil
    }

    var resets: Int {
        advice.count { if case .reset = $0 { true } else { false } }
    }
}

@Suite struct ScanHealthTests {
    @Test func leavesAHouseAloneInWhichNothingWasEverHeard() {
        var bench = Bench([])
        bench.play(.seconds(3600))
        #expect(bench.resets == 0)
        #expect(!bench.health.isDoubtful)
        #expect(bench.advice.count < 30)
    }

    @Test func leavesAHouseAloneFromWhichTheOnlyBeaconWent() {
        var bench = Bench([.milliseconds(100)])
        bench.play(.seconds(60))
        bench.advertisers = []
        bench.play(.seconds(3600))
        #expect(bench.resets == 0)
        #expect(!bench.health.isDoubtful)
    }

    @Test func leavesAHouseAloneFromWhichBeaconsWentOneByOne() {
        var bench = Bench([.milliseconds(100), .milliseconds(200), .milliseconds(500)])
        bench.play(.seconds(60))
        while !bench.advertisers.isEmpty {
            bench.advertisers.removeFirst()
            bench.play(.seconds(3))
        }
        bench.play(.seconds(600))
        #expect(bench.resets == 0)
    }

    @Test func findsADeafControllerAndResetsIt() {
        var bench = Bench([.milliseconds(100), .milliseconds(200)])
        bench.play(.seconds(60))
        bench.isDeaf = true
        bench.play(.seconds(15))
        #expect(bench.resets == 1)
        #expect(bench.advice.contains(.reset(because: "the controller is deaf: it answers, but reports nothing")))
        bench.play(.seconds(5))
        #expect(!bench.health.isDoubtful)
    }

    /// At 5 %, two beacons of 100 ms make one report a second, so all of them are silent for ten seconds now and then.
    @Test(arguments: [0.05, 0.1, 0.25, 0.5], [100, 500])
    func leavesAControllerAloneThatListensForAPartOfTheTime(duty: Double, milliseconds: Int) {
        var bench = Bench([.milliseconds(milliseconds), .milliseconds(milliseconds)])
        bench.play(.seconds(60))
        bench.duty = duty
        bench.play(.seconds(36_000))
        #expect(bench.resets == 0)
    }

    @Test func `A probe that cannot be sent resets nothing, and a doubt stays until something is heard`() {
        var bench = Bench([.milliseconds(100), .milliseconds(200)])
        bench.play(.seconds(60))
        (bench.isDeaf, bench.isUnaskable) = (true, true)
        bench.play(.seconds(600))
        #expect(bench.resets == 0)
        #expect(bench.health.isDoubtful)
        #expect(bench.left.isEmpty)
        let restart = ScanHealth.Advice.restartScan(
            because: "all advertisers fell silent at once; the controller cannot be asked")
        #expect(bench.advice.contains(restart))
        // A probe that is answered decides.
        bench.isUnaskable = false
        bench.play(.seconds(60))
        #expect(bench.resets == 1)
        #expect(!bench.health.isDoubtful)
    }

    @Test func `A house in which nothing was heard is not doubted because no probe can be sent`() {
        var bench = Bench([])
        bench.isUnaskable = true
        bench.play(.seconds(3600))
        #expect(bench.resets == 0)
        #expect(!bench.health.isDoubtful)
        #expect(bench.advice.count < 30)
    }

    @Test func triesAFreshScanBeforeAReset() throws {
        var bench = Bench([.milliseconds(100), .milliseconds(200)])
        bench.play(.seconds(60))
        bench.isDeaf = true
        bench.play(.seconds(15))
        let restart = try #require(bench.advice.firstIndex { if case .restartScan = $0 { true } else { false } })
        let reset = try #require(bench.advice.firstIndex { if case .reset = $0 { true } else { false } })
        #expect(restart < reset)
    }

    @Test func doubtsTheControllerWhileItIsSuspected() {
        var bench = Bench([.milliseconds(100), .milliseconds(200)])
        bench.play(.seconds(60))
        bench.isDeaf = true
        bench.play(.seconds(5))
        #expect(bench.health.isDoubtful)
    }

    @Test func resetsOnlyOnceWhenTwoNearBeaconsFallSilentInOneMoment() {
        var bench = Bench([.milliseconds(100), .milliseconds(200)])
        bench.play(.seconds(60))
        bench.advertisers = []
        bench.play(.seconds(3600))
        #expect(bench.resets == 1)
        #expect(!bench.health.isDoubtful)
    }

    @Test func leavesAloneWhatIsCarriedAwayTogether() {
        var bench = Bench([.milliseconds(100), .milliseconds(200)])
        bench.play(.seconds(60))
        bench.strength = -88
        bench.play(.seconds(5))
        bench.advertisers = []
        bench.play(.seconds(3600))
        #expect(bench.resets == 0)
        #expect(!bench.health.isDoubtful)
    }

    @Test func findsAHungControllerEvenInAQuietHouse() {
        var bench = Bench([])
        bench.play(.seconds(30))
        bench.isHung = true
        bench.play(.seconds(120))
        #expect(bench.advice.contains(.reset(because: "the controller hangs: it answers no command")))
    }

    @Test func asksTheControllerAtOnceWhenTheOnlySteadyBeaconFallsSilent() {
        var bench = Bench([.milliseconds(1000)])
        bench.play(.seconds(60))
        bench.advertisers = []
        bench.play(.seconds(8))
        #expect(bench.advice == [.probe])
        bench.play(.seconds(10))
        #expect(bench.advice == [.probe], "a controller that answered is left alone for a while")
    }

    @Test func doesNotAskForEachPauseOfASlowBeacon() {
        var bench = Bench([.milliseconds(8000)])
        bench.play(.seconds(600))
        #expect(bench.advice.isEmpty)
    }

    @Test func wakesSeldomInAHouseWithoutAdvertisers() {
        var bench = Bench([.milliseconds(100)])
        bench.play(.seconds(60))
        bench.advertisers = []
        bench.play(.seconds(60))
        let before = bench.ticks
        bench.play(.seconds(600))
        // One in five seconds, and ten more each time that the scan was started afresh.
        let restarts = bench.advice.count { $0 == .probe }
        #expect((1...6).contains(restarts) && bench.ticks - before <= 600 / 5 + 10 * restarts)
        bench.advertisers = [(1, .milliseconds(100))]
        bench.play(.seconds(60))
        bench.isHung = true
        bench.play(.seconds(20))
        #expect(bench.resets == 1, "and is as quick as before once a beacon was heard")
    }

    @Test func doubtsAControllerWhoseAnswerIsLate() {
        var health = ScanHealth()
        var now = MonotonicInstant.zero
        health.scanStarted(at: now)
        let address = DeviceAddress(value: 1, isRandom: true)
        for _ in 1...100 {
            now = now.advanced(by: .milliseconds(100))
            health.heard(AdvertisingReport(address: address, rssi: RSSI(reported: -65)), at: now)
        }
        for _ in 1...3 {
            #expect(!health.isDoubtful)
            now = now.advanced(by: .seconds(1))
            _ = health.tick(at: now)
        }
        now = now.advanced(by: .seconds(1))
        _ = health.tick(at: now)
        #expect(health.isDoubtful)
        #expect(health.probeAnswered(at: now) == nil)
        #expect(!health.isDoubtful)
    }

    @Test func resetsAControllerThatStaysDeadLessAndLessOften() {
        var bench = Bench([.milliseconds(100), .milliseconds(200)])
        bench.play(.seconds(60))
        bench.isHung = true
        bench.play(.seconds(3600), resetHelps: false)
        #expect((5...30).contains(bench.resets))
        #expect(bench.health.isDoubtful)
    }

    @Test func judgesNothingWhileTheAdapterIsOff() {
        var bench = Bench([.milliseconds(100), .milliseconds(200)])
        bench.play(.seconds(60))
        bench.health.scanStopped(at: bench.now)
        bench.isDeaf = true
        bench.play(.seconds(600))
        #expect(bench.advice.isEmpty)
    }

    static let rooms: [[Int]] = [[200, 500, 700], [300, 1400], [700, 700], [300, 300], [1000, 1200, 1400]]

    @Test(arguments: rooms, 0..<14)
    func nobodyLeavesARoomWhoseControllerBecomesDeaf(intervals: [Int], moment: Int) {
        var bench = Bench(intervals.map { .milliseconds($0) })
        bench.play(.seconds(60) + .milliseconds(100 * moment))
        bench.isDeaf = true
        bench.play(.seconds(40))
        #expect(bench.resets == 1)
        #expect(bench.left.isEmpty)
        #expect(!bench.isDeaf && !bench.health.isDoubtful && !bench.health.isUncertain)
    }

    @Test(arguments: [1, 3, 30]) func findsAControllerDeafRightAfterAShortStop(seconds: Int) {
        var bench = Bench([.milliseconds(200), .milliseconds(500), .milliseconds(700)])
        bench.play(.seconds(60))
        bench.powerCycle(.seconds(seconds))
        bench.isDeaf = true
        bench.play(.seconds(20))
        #expect(bench.resets == 1)
        #expect(bench.left.isEmpty)
    }

    @Test func expectsNobodyAfterALongStop() {
        var bench = Bench([.milliseconds(200), .milliseconds(500)])
        bench.play(.seconds(60))
        bench.powerCycle(.seconds(90))
        bench.advertisers = []
        bench.play(.seconds(600))
        #expect(bench.resets == 0)
    }

    @Test(arguments: 7..<20) func findsAControllerDeafRightAfterTheResetForIt(moment: Int) {
        var bench = Bench([.milliseconds(200), .milliseconds(500), .milliseconds(700)])
        bench.play(.seconds(60))
        for count in 1...2 {
            bench.isDeaf = true
            while bench.isDeaf, bench.now < .zero.advanced(by: .seconds(120)) { bench.play(.milliseconds(100)) }
            #expect(bench.resets == count)
            bench.play(.milliseconds(100 * moment))
        }
        #expect(bench.left.isEmpty)
    }

    @Test(arguments: [300, 500, 700, 1000, 1400]) func aSingleBeaconThatLeftIsNoDoubt(milliseconds: Int) {
        var bench = Bench([.milliseconds(milliseconds)])
        bench.play(.seconds(60))
        bench.advertisers = []
        bench.play(max(.seconds(3), .milliseconds(milliseconds) * 4.2) + .milliseconds(200))
        #expect(bench.left == [1], "as soon as without a check")
    }

    @Test func oneOfSeveralBeaconsThatLeftIsNoDoubt() {
        var bench = Bench([.milliseconds(300), .milliseconds(500), .milliseconds(700)])
        bench.play(.seconds(60))
        bench.advertisers.removeFirst()
        bench.play(.milliseconds(3200))
        #expect(bench.left == [1])
        #expect(bench.advice.isEmpty)
    }

    @Test(arguments: [300, 500, 700, 1000, 1400]) func aSingleBeaconStaysWhileTheControllerHangs(milliseconds: Int) {
        var bench = Bench([.milliseconds(milliseconds)])
        bench.play(.seconds(60))
        bench.isHung = true
        bench.isUnanswering = true
        bench.play(.seconds(20))
        #expect(bench.left.isEmpty)
        #expect(bench.health.isDoubtful)
    }
}
