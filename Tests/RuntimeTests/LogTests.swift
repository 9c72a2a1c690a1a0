import Base
import Glibc
import Testing

@testable import Runtime

@Suite struct LogTests {
    /// What a log writes, as lines.
    private func written(
        threshold: LogPriority = .info, style: Log.Style = .prefixed, _ work: (Log) -> Void
    ) throws -> String {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        work(Log(threshold: threshold, style: style, descriptor: ends[1]))
        close(ends[1])
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while case let count = read(ends[0], &buffer, buffer.count), count > 0 { text += buffer.prefix(count) }
        close(ends[0])
        return String(decoding: text, as: UTF8.self)
    }

    @Test func `each line carries its journal priority`() throws {
        let text = try written(threshold: .debug) { log in
            log.error("e")
            log.warning("w")
            log.notice("n")
            log.info("i")
            log.debug("d")
        }
        #expect(text == "<3>e\n<4>w\n<5>n\n<6>i\n<7>d\n")
    }

    @Test func `a slow turn at the start does not hide a turn that takes twice the time`() throws {
        let text = try written { log in
            for seconds in [0.2, 0.9, 1.2, 6.0, 7.9, 20.5, 21] {
                log.slowTurn(EventLoop.Turn(elapsed: .seconds(seconds), processor: .milliseconds(50)))
            }
            log.slowTurn(EventLoop.Turn(elapsed: .seconds(3), processor: .seconds(2)), "; so what")
        }
        let turns = text.split(separator: "\n").map { $0.dropFirst("<4>one turn of the loop took ".count) }
        #expect(
            turns
                == ["0.20 s", "1.20 s", "6.00 s", "20.50 s"].map { "\($0), of which it had a processor for 0.05 s" }
                + ["3.00 s, of which it had a processor for 2.00 s; so what"])
    }

    @Test func `a hundred thousand lines in a moment are cut off, and said to be in the next minute`() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        // Who writes more than the pipe holds does not wait here for a reader.
        #expect(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0)
        let log = Log(
            style: .plain, descriptor: ends[1], limiter: LogLimiter(interval: .milliseconds(200), lines: 10))
        let start = ContinuousClock.now
        for number in 0..<100_000 { log.info("\(number)") }
        // The minute that ends here has had too many.
        let suppressed = log.suppressedTotal
        while log.suppressedTotal == suppressed { log.info("one more") }
        let minutes = Int(start.duration(to: .now) / .milliseconds(200)) + 1
        usleep(250_000)
        log.info("last")
        close(ends[1])
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(ends[0], &buffer, buffer.count)
        close(ends[0])
        let lines = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
        // Ten of each, and how many were left out.
        #expect(lines.count <= minutes * 11 + 2, "\(lines.count)")
        #expect(lines.last == "last")
        #expect(lines.dropLast().last?.hasSuffix("lines were dropped: too many in the minute before") == true)
    }

    @Test func `at a terminal the word stands in the number's place`() throws {
        let text = try written(style: .plain) { log in
            log.error("e")
            log.warning("w")
            log.info("i")
        }
        #expect(text == "error: e\nwarning: w\ni\n")
    }

    @Test func `what is less serious than the threshold is neither written nor made`() throws {
        let text = try written(threshold: .warning) { log in
            log.info(
                {
                    Issue.record("built for nothing")
                    return "i"
                }())
            log.warning("w")
        }
        #expect(text == "<4>w\n")
    }

    @Test func `a line break or an escape from outside cannot begin another line or reach a terminal`() {
        #expect(Log.line(.info, "a\n<0>b\r\u{1b}[2J\u{9b}c\td", style: .prefixed) == "<6>a <0>b  [2J c d\n")
        #expect(Log.line(.info, "a\u{202e}b\u{2028}c", style: .prefixed) == "<6>a\u{FFFD}b\u{FFFD}c\n")
    }

    @Test func `a repeated fault is one line and a count`() throws {
        var suppressed = 0
        let text = try written { log in
            for number in 0..<1_000 { log.once("fault", .warning, "fault \(number)") }
            suppressed = log.suppressedTotal
        }
        #expect(text == "<4>fault 0\n")
        #expect(suppressed == 999)
    }

    @Test func `what stands behind a text makes no other text of it`() throws {
        let text = try written { log in
            for number in 0..<1_000 { log.each("fault", .warning, "fault \(number % 2)", more: "; try \(number)") }
        }
        #expect(text == "<4>fault 0; try 0\n<4>fault 1; try 1\n")
    }

    @Test func `a log whose reader has gone does not stop the program`() throws {
        signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        close(ends[0])
        Log(style: .prefixed, descriptor: ends[1]).error("nobody reads this")
        close(ends[1])
    }
}
