import Base
import Glibc
import System
import Testing

@Suite struct SystemCallTests {
    @Test func `A call that a signal interrupts is made again`() throws {
        var results = [5, -1, -1]
        let result = try systemCall("read") { () -> Int in
            errno = EINTR
            return results.removeLast()
        }
        #expect(result == 5)
        #expect(results.isEmpty)
    }

    @Test func `An error names the call, and has the text of the system`() {
        let error = #expect(throws: SystemError("close", code: EBADF)) { try systemCall("close") { close(-1) } }
        #expect(error?.description == "close: Bad file descriptor")
        #expect(error?.message == "Bad file descriptor")
    }

    @Test func `Writing goes on when a full pipe has room again`() throws {
        var ends: [CInt] = [-1, -1]
        try systemCall("pipe") { pipe(&ends) }
        let (reader, writer) = (ends[0], ends[1])
        defer { close(reader) }
        try systemCall("fcntl") { fcntl(writer, F_SETFL, O_NONBLOCK) }
        // More than a pipe holds.
        let sent = [UInt8](repeating: 7, count: 1 << 20)
        let thread = try WorkerThread(name: "writer") {
            try? writeAll(sent, to: writer)
            close(writer)
        }
        var received = 0
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = try systemCall("read", { read(reader, &buffer, buffer.count) }), count > 0 {
            received += count
        }
        #expect(received == sent.count)
        #expect(thread.join(until: Clocks.now().advanced(by: .seconds(60))))
    }
}
