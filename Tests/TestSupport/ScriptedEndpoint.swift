import Glibc
import Synchronization

/// An HTTP server on the loopback interface that answers as the test says and remembers what it was sent.
package final class ScriptedEndpoint: Sendable {
    package struct Request: Sendable {
        package let method: String
        package let path: String
        /// By their names in lower case.
        package let headers: [String: String]
        package let body: [UInt8]

        package var text: String { String(decoding: body, as: UTF8.self) }
    }

    package enum Reply: Sendable {
        case answer(Int, String, headers: [String])
        /// The connection ends without an answer.
        case hangUp
        /// No answer comes, for as long as the client waits.
        case silence

        package static func status(_ status: Int, _ body: String = "[]") -> Reply { .answer(status, body, headers: []) }
    }

    private struct State {
        var requests: [Request] = []
        var reply: @Sendable (Request) -> Reply
    }

    private let listener: LoopbackPort.Listener
    private let state: Mutex<State>

    package var port: UInt16 { listener.port }
    package var url: String { "http://127.0.0.1:\(port)/pub" }

    /// - Parameters:
    ///   - listener: Where; nil: on a free port.
    ///   - reply: 200 and an empty array, unless told otherwise.
    package init(
        on listener: LoopbackPort.Listener? = nil, reply: @escaping @Sendable (Request) -> Reply = { _ in .status(200) }
    ) throws {
        self.listener = try listener ?? LoopbackPort.Listener()
        self.listener.listen()
        state = Mutex(State(reply: reply))
        let context = Unmanaged.passRetained(self)
        var thread = pthread_t()
        guard pthread_create(&thread, nil, runEndpoint, context.toOpaque()) == 0 else {
            context.release()
            throw SupportError("no thread for the server")
        }
        pthread_detach(thread)
    }

    /// All that were read whole so far, greetings included.
    package var requests: [Request] { state.withLock { $0.requests } }

    /// The messages among them.
    package var messages: [Request] { requests.filter { !$0.body.isEmpty } }

    /// Answers like this from now on.
    package func reply(_ reply: @escaping @Sendable (Request) -> Reply) { state.withLock { $0.reply = reply } }

    /// No more connections are accepted.
    package func close() { shutdown(listener.descriptor, Int32(SHUT_RDWR)) }

    /// One request at a time, each on a connection of its own.
    fileprivate func serve() {
        while true {
            let client = listener.accept()
            guard client >= 0 else { return }
            if let request = Self.read(client) { answer(request, to: client) }
            Glibc.close(client)
        }
    }

    private func answer(_ request: Request, to client: Int32) {
        let reply = state.withLock { state in
            state.requests.append(request)
            return state.reply
        }
        switch reply(request) {
        case .hangUp: break
        case .silence:
            var byte: UInt8 = 0
            // Until the client gives up.
            _ = recv(client, &byte, 1, 0)
        case .answer(let status, let body, let headers):
            let head = ["HTTP/1.1 \(status) Scripted", "Content-Length: \(body.utf8.count)", "Connection: close"]
            let bytes = Array(((head + headers).joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
            var sent = 0
            while sent < bytes.count {
                let count = bytes.withUnsafeBytes {
                    send(client, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return }
                sent += count
            }
        }
    }

    private static func read(_ client: Int32) -> Request? {
        var bytes: [UInt8] = []
        while !bytes.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            var byte: UInt8 = 0
            guard recv(client, &byte, 1, 0) == 1, bytes.count < 65_536 else { return nil }
            bytes.append(byte)
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count == 3 else { return nil }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
        }
        let count = headers["content-length"].flatMap { Int($0) } ?? 0
        var body = [UInt8](repeating: 0, count: count)
        guard count == 0 || recv(client, &body, count, Int32(MSG_WAITALL)) == count else { return nil }
        return Request(method: String(words[0]), path: String(words[1]), headers: headers, body: body)
    }
}

private func runEndpoint(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    Unmanaged<ScriptedEndpoint>.fromOpaque(context).takeRetainedValue().serve()
    return nil
}
