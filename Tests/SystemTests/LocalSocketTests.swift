import Glibc
import System
import TestSupport
import Testing

/// A Unix socket, as a service opens it and a command connects to it.
@Suite struct LocalSocketTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func connects(_ socket: LocalSocket) -> Bool {
        let descriptor = LocalSocket.make()
        defer { close(descriptor) }
        return socket.connect(descriptor) == 0
    }

    @Test func `Both ends know the user of the other`() throws {
        let socket = LocalSocket(directory.file("s"))
        let listener = try socket.listen()
        let client = LocalSocket.make()
        #expect(socket.connect(client) == 0)
        let server = accept(listener, nil, nil)
        #expect(LocalSocket.peer(of: client) == geteuid())
        #expect(LocalSocket.peer(of: server) == geteuid())
        for descriptor in [listener, client, server] { close(descriptor) }
    }

    @Test func `A socket of another family has no user at its other end`() {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        #expect(LocalSocket.peer(of: descriptor) == nil)
        close(descriptor)
    }

    @Test func `The file of a service that was killed is replaced`() throws {
        let socket = LocalSocket(directory.file("s"))
        close(try socket.listen())
        #expect(!connects(socket))
        let listener = try socket.listen()
        #expect(connects(socket))
        close(listener)
    }

    @Test func `The socket of a service that runs is not taken`() throws {
        let socket = LocalSocket(directory.file("s"))
        let listener = try socket.listen()
        #expect(throws: SystemError("bind", code: EADDRINUSE)) { try socket.listen() }
        #expect(connects(socket))
        close(listener)
    }

    @Test func `A file that is no socket stays`() throws {
        let path = try directory.write("mine", to: "s")
        #expect(throws: SystemError("bind", code: EADDRINUSE)) { try LocalSocket(path).listen() }
        #expect(access(path, F_OK) == 0)
    }

    @Test func `A path of more than 107 bytes is no limit`() throws {
        let deep = directory.file(String(repeating: "d", count: 120))
        mkdir(deep, 0o700)
        let socket = LocalSocket("\(deep)/s")
        let listener = try socket.listen()
        #expect(connects(socket))
        close(listener)
    }
}
