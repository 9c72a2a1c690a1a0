import Base
import Glibc
import JSON
import Shell
import System
import TestSupport
import Testing

@testable import Tools

/// Whom a command asks, and for how long.
@Suite struct StatusClientTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// A service that answers one question as the test says, on a thread of its own.
    private func serve(_ answer: @escaping @Sendable (CInt) -> Void) throws {
        let listener = try LocalSocket(directory.file("control.sock")).listen()
        _ = try WorkerThread(name: "server") {
            var arrival = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
            poll(&arrival, 1, 10_000)
            let connection = accept(listener, nil, nil)
            // A connection that is closed with the request unread is reset.
            var request = [UInt8](repeating: 0, count: 4096)
            recv(connection, &request, request.count, 0)
            answer(connection)
            close(connection)
            close(listener)
        }
    }

    private static func send(_ text: String, to descriptor: CInt) -> Bool {
        let bytes = Array(text.utf8)
        return Glibc.send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count
    }

    @Test func `An answer is read to its end`() throws {
        try serve { connection in
            _ = Self.send("HTTP/1.1 200 OK\r\n\r\n{\"version\":", to: connection)
            _ = Self.send("\"1\"}", to: connection)
        }
        #expect(try StatusClient(stateDirectory: directory.path).ask("/status.json") == ["version": "1"])
    }

    @Test func `A server that drips is given up when the time for the whole answer is over`() throws {
        try serve { connection in
            guard Self.send("HTTP/1.1 200 OK\r\n\r\n", to: connection) else { return }
            for _ in 0..<2000 where Self.send(" ", to: connection) { usleep(5_000) }
        }
        let begin = Clocks.now()
        let failure = #expect(throws: Failure.self) {
            try StatusClient(stateDirectory: directory.path, within: .milliseconds(300)).ask("/status.json")
        }
        #expect(failure?.message.contains("0.30 s have passed without a complete answer") == true)
        #expect(begin.duration(to: Clocks.now()) < .seconds(5))
    }

    @Test func `A long reason is cut between two characters`() throws {
        let reason = String(repeating: "ä", count: 399) + "–" + String(repeating: "x", count: 2000)
        try serve { _ = Self.send("HTTP/1.1 422 Unprocessable\r\n\r\n\(reason)\n", to: $0) }
        let failure = #expect(throws: Failure.self) {
            try StatusClient(stateDirectory: directory.path).ask("/status.json")
        }
        #expect(failure?.message.contains("ä–") == true)
        #expect(failure?.message.contains("\u{FFFD}") == false)
    }

    @Test func `A refusal is passed on with its reason`() throws {
        try serve { _ = Self.send("HTTP/1.1 403 Forbidden\r\n\r\nonly root may ask\n", to: $0) }
        let failure = #expect(throws: Failure.self) {
            try StatusClient(stateDirectory: directory.path).ask("/status.json")
        }
        #expect(failure?.code == .noPermission)
        #expect(failure?.message.contains("only root may ask") == true)
    }

    @Test func `A service all of whose connections are held runs, and is asked when one is free`() throws {
        let socket = LocalSocket(directory.file("control.sock"))
        let listener = try socket.listen()
        defer { close(listener) }
        var held: [CInt] = []
        defer { for descriptor in held { close(descriptor) } }
        repeat { held.append(LocalSocket.make(isBlocking: false)) } while socket.connect(held[held.count - 1]) == 0
        let failure = #expect(throws: Failure.self) {
            try StatusClient(stateDirectory: directory.path, within: .milliseconds(200)).ask("/status.json")
        }
        #expect(failure?.code == .temporaryFailure)
        #expect(failure?.message.contains("other programs hold all its connections") == true)
        let server = try WorkerThread(name: "server") {
            usleep(100_000)
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 || errno == EAGAIN else { return }
                var request = [UInt8](repeating: 0, count: 4096)
                var arrival = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
                guard connection >= 0, poll(&arrival, 1, 50) == 1,
                    recv(connection, &request, request.count, 0) > 0
                else {
                    if connection >= 0 { close(connection) } else { usleep(1000) }
                    continue
                }
                _ = Self.send("HTTP/1.1 200 OK\r\n\r\n{}", to: connection)
                close(connection)
                return
            }
        }
        #expect(try StatusClient(stateDirectory: directory.path).ask("/status.json") == [:])
        #expect(server.join(until: Clocks.now().advanced(by: .seconds(30))))
    }

    @Test func `Without a service nothing is asked`() {
        let failure = #expect(throws: Failure.self) {
            try StatusClient(stateDirectory: directory.path).ask("/status.json")
        }
        #expect(failure?.code == .unavailable)
        #expect(failure?.message.hasPrefix("the service does not run") == true)
        #expect(failure?.message.hasSuffix("; start it with --state-dir \(directory.path)") == true)
    }

    @Test(
        arguments: [
            ("/var/lib/ibeacon-gateway", "start it with: sudo systemctl start ibeacon-gateway"),
            ("/var/lib/ibeacon-gateway-rooms", "start it with: sudo systemctl start ibeacon-gateway-rooms"),
            ("/var/lib/ibeacon-gateway-rooms@barn", "start it with: sudo systemctl start ibeacon-gateway-rooms@barn"),
            ("/data/state", "start it with --state-dir /data/state"),
        ])
    func `What starts the service is named by its state directory`(directory: String, command: String) {
        #expect(StatusClient.start(directory) == command)
    }
}

/// Where the commands look for a service, and whom they take for it.
@Suite struct ControlSocketTests {
    @Test(
        arguments: [
            (
                "/var/lib/ibeacon-gateway",
                ["/run/ibeacon-gateway/control.sock", "/var/lib/ibeacon-gateway/control.sock"]
            ), ("/tmp/state", ["/tmp/state/control.sock"]),
        ])
    func `A service listens in its runtime directory or in its state directory`(_ directory: String, _ paths: [String])
    {
        #expect(ControlSocket.candidates(for: directory).map(\.path) == paths)
    }

    @Test(
        arguments: [(0, 999, true), (999, 999, true), (1000, 999, false), (1000, nil, false), (0, nil, true)]
            as [(uid_t, uid_t?, Bool)])
    func `Only root and the owner of the state directory are taken for the service`(
        _ peer: uid_t, _ owner: uid_t?, _ isTrusted: Bool
    ) {
        #expect(ControlSocket.isTrusted(peer, owner: owner) == isTrusted)
    }
}
