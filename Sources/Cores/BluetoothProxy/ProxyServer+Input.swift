package import Beacon

extension ProxyServer {
    package enum Input: Sendable {
        /// A client has connected.
        ///
        /// - secret: 32 random bytes for this connection alone.
        case accepted(ProxyClientID, ProxyPeer, secret: [UInt8])
        /// An address was reached that `Effect.dial` asked for.
        case dialled(ProxyClientID, ProxyPeer, secret: [UInt8])
        /// It was not.
        case notDialled(address: String)
        /// Bytes of a client.
        case received(ProxyClientID, [UInt8])
        /// Of what `Effect.send` gave, a part could not be written yet.
        case blocked(ProxyClientID)
        /// All of it is written now.
        case drained(ProxyClientID)
        /// The connection has ended, by the other side or by an error.
        case closed(ProxyClientID)
        /// A packet of any device, with its advertising data (at most 62 bytes of it are passed on).
        case heard(AdvertisingReport, data: [UInt8])
        /// The scanner's state or mode changed.
        case scan(ProxyScan)
        /// The addresses of the Home Assistants that had adopted the proxy before this start, as `Effect.adopted` gave them.
        case homes([String])
        /// Home Assistant's birth message: it has just started.
        case homeAssistantStarted
        /// Seconds since 1970, for clients that ask; nil: not known.
        case time(epochSeconds: UInt32?)
        /// Time passed.
        case tick
        /// The proxy is switched off.
        case stop
    }

    package enum Effect: Hashable, Sendable {
        /// Writes bytes to a client. What cannot be written at once is kept, at most `mostUnwritten` bytes, and said by `blocked`.
        case send(ProxyClientID, [UInt8])
        /// Closes the connection after what was sent before has been given to the kernel. No `closed` follows.
        case close(ProxyClientID)
        /// Connects to Home Assistant's port `ProxySettings.dialPort`. `dialled` or `notDialled` follows.
        case dial(address: String)
        /// Whether any client wants packets: without one, no `heard` is needed.
        case listen(Bool)
        /// Whether any client wants an active scan. What the scanner does then is told by `scan`.
        case scanActively(Bool)
        /// The addresses of all Home Assistants that have adopted the proxy, at most four, for the next start.
        case adopted([String])
        /// A line for the log. Each kind has one a minute.
        case note(ProxyNote)

        /// Whether it does something with this connection.
        func concerns(_ id: ProxyClientID) -> Bool {
            switch self {
            case .send(let other, _), .close(let other): other == id
            default: false
            }
        }

        var isNote: Bool { if case .note = self { true } else { false } }
    }
}
