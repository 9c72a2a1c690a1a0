import Foundation
import Runtime
import Testing

struct WallClockWatchTests {
    @Test func `a watch for wall clock jumps can be set and stays quiet while the clock runs on`() throws {
        let loop = try EventLoop()
        let watch = try WallClockWatch(loop: loop) { Issue.record("the clock did not jump") }
        #expect(try !loop.step(timeout: .milliseconds(20)))
        withExtendedLifetime(watch) {}
    }

    @Test func `The timer does not expire by itself in any year that a clock may show`() throws {
        let loop = try EventLoop()
        let watch = try WallClockWatch(loop: loop) {}
        // The remaining seconds of the timers of CLOCK_REALTIME that this process has.
        let remaining = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fdinfo").compactMap { name in
            guard let text = try? String(contentsOfFile: "/proc/self/fdinfo/\(name)", encoding: .utf8),
                let match = text.firstMatch(of: #/clockid: 0\n(?s:.*)it_value: \((\d+),/#)
            else { return nil as Int? }
            return Int(match.1)
        }
        let century = 100 * 365 * 86_400
        #expect(!remaining.isEmpty && remaining.allSatisfy { $0 > century }, "\(remaining)")
        withExtendedLifetime(watch) {}
    }
}
