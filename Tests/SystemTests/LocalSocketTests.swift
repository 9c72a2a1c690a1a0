import Foundation
import Synchronization
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

/// What the owner of the directory can do while a service opens its socket there.
@Suite(.serialized) struct LocalSocketModeTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    @Test func `All users may connect, whatever the umask is, and the umask stays`() throws {
        let before = umask(0o077)
        defer { umask(before) }
        let listener = try LocalSocket(directory.file("s")).listen()
        defer { close(listener) }
        #expect(mode(directory.file("s")) == 0o666)
        #expect(umask(0o077) == 0o077)
    }

    @Test func `A link in place of the socket does not open another file to all users`() throws {
        let (secret, path) = (try directory.write("secret", to: "secret"), directory.file("s"))
        chmod(secret, 0o600)
        final class Flag: Sendable { let isSet = Atomic(false) }
        let isDone = Flag()
        let attacker = Thread {
            while !isDone.isSet.load(ordering: .relaxed) {
                guard unlink(path) == 0 else { continue }
                symlink(secret, path)
            }
        }
        attacker.start()
        for _ in 1...500 {
            if let listener = try? LocalSocket(path).listen() { close(listener) }
            unlink(path)
        }
        isDone.isSet.store(true, ordering: .relaxed)
        while !attacker.isFinished { usleep(100) }
        #expect(mode(secret) == 0o600)
    }
}
