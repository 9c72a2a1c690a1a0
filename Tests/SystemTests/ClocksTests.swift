import Base
import System
import TestSupport
import Testing

@Suite struct ClocksTests {
    @Test func `boot time goes forward`() {
        var last = Clocks.now()
        for _ in 0..<1_000 {
            let now = Clocks.now()
            #expect(now >= last)
            last = now
        }
    }

    @Test(arguments: [
        (true, WallClockTrust.floor, WallClockTrust.synchronised),
        (true, 1_900_000_000, .synchronised),
        (false, WallClockTrust.floor, .plausible),
        (false, 1_900_000_000, .plausible),
        // The kernel may call a clock disciplined that a faulty time service has set to nonsense.
        (true, WallClockTrust.floor - 1, .unset),
        (false, 0, .unset),
        (false, -1, .unset),
    ])
    func `a wall clock is trusted if a program sets it and it shows a possible time`(
        disciplined: Bool, seconds: Int64, trust: WallClockTrust
    ) {
        #expect(WallClockTrust(disciplined: disciplined, wallSeconds: seconds) == trust)
    }

    @Test func `a clock that systemd-timesyncd has set is known without the kernel's word`() throws {
        let directory = try TemporaryDirectory()
        #expect(!Clocks.isSetByTimesyncd(mark: directory.path + "/synchronized"))
        let mark = try directory.write("", to: "synchronized")
        #expect(Clocks.isSetByTimesyncd(mark: mark))
    }

    @Test func `a clock that runs is not taken for unset`() {
        #expect(Clocks.wallClockTrust() != .unset)
    }

    @Test(arguments: [
        (2026, 6, 31, 0), (2026, 2, 29, 0), (2100, 2, 29, 0), (2026, 13, 1, 0), (2026, 0, 1, 0), (2026, 1, 1, 24),
        (Int.max, 1, 1, 0),
    ])
    func `a day or a time that the calendar does not have is no instant`(year: Int, month: Int, day: Int, hour: Int) {
        #expect(CalendarTime(year: year, month: month, day: day, hour: hour).epochSeconds == nil)
    }

    @Test(arguments: [0, 951_782_400, 1_767_225_599, 4_107_542_400, -1] as [Int64])
    func `the calendar leads back to the same second`(seconds: Int64) throws {
        #expect(try #require(CalendarTime(epochSeconds: seconds)).epochSeconds == seconds)
    }
}
