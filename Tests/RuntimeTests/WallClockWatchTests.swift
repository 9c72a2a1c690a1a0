import Runtime
import Testing

struct WallClockWatchTests {
    @Test func `a watch for wall clock jumps can be set and stays quiet while the clock runs on`() throws {
        let loop = try EventLoop()
        let watch = try WallClockWatch(loop: loop) { Issue.record("the clock did not jump") }
        #expect(try !loop.step(timeout: .milliseconds(20)))
        withExtendedLifetime(watch) {}
    }
}
