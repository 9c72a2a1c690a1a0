import Base
import Glibc
import Runtime
import System
import Testing

/// NOTIFY_SOCKET belongs to the whole process, so the cases are one test in turn.
@Suite(.serialized) struct ServiceNotifierTests {
    @Test func `the service manager receives readiness, status, reload and stop as datagrams`() throws {
        let socket = try NotifySocket()
        let notifier = ServiceNotifier()
        notifier.ready(status: "listening")
        #expect(socket.receive() == "READY=1\nSTATUS=listening")
        notifier.status("two lines\nREADY=0")
        #expect(socket.receive() == "STATUS=two lines READY=0")
        notifier.reloading()
        let reloading = socket.receive()
        #expect(reloading.hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
        notifier.stopping()
        #expect(socket.receive() == "STOPPING=1")
    }

    @Test func `outside systemd nothing is sent and nothing fails`() {
        unsetenv("NOTIFY_SOCKET")
        ServiceNotifier().ready(status: "alone")
    }

    @Test func `the loop feeds the watchdog by itself while it runs`() throws {
        let socket = try NotifySocket()
        setenv("WATCHDOG_USEC", "40000", 1)
        setenv("WATCHDOG_PID", "\(getpid())", 1)
        defer {
            unsetenv("WATCHDOG_USEC")
            unsetenv("WATCHDOG_PID")
        }
        let loop = try EventLoop()
        #expect(try loop.feedWatchdog())
        // It ends with the second, or fails after a minute.
        var fed: [String] = []
        let end = Clocks.now().advanced(by: .seconds(60))
        while fed.count < 2, Clocks.now() < end {
            _ = try loop.step(timeout: .milliseconds(10))
            let datagram = socket.receive()
            if !datagram.isEmpty { fed.append(datagram) }
        }
        #expect(fed == ["WATCHDOG=1", "WATCHDOG=1"])
    }

    @Test func `no watchdog is fed where none was asked for`() throws {
        unsetenv("WATCHDOG_USEC")
        #expect(try !EventLoop().feedWatchdog())
    }
}

/// A datagram socket in the abstract namespace, as a service manager has one.
private final class NotifySocket {
    private let descriptor: Int32

    init() throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        let name = "ibeacon-gateway-test-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            // The first byte stays 0: the abstract namespace.
            path[1...].copyBytes(from: name.utf8)
        }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.utf8.count)
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard bound == 0 else { throw SystemError("bind", code: errno) }
        setenv("NOTIFY_SOCKET", "@" + name, 1)
    }

    deinit {
        unsetenv("NOTIFY_SOCKET")
        close(descriptor)
    }

    /// The next datagram; empty if there is none.
    func receive() -> String {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}
