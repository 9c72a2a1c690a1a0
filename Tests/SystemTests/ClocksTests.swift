import System
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
    func `a wall clock is believed as far as somebody keeps it and it shows a possible time`(
        disciplined: Bool, seconds: Int64, trust: WallClockTrust
    ) {
        #expect(WallClockTrust(disciplined: disciplined, wallSeconds: seconds) == trust)
    }

    @Test func `a clock that runs is not taken for unset`() {
        #expect(Clocks.wallClockTrust() != .unset)
    }
}
