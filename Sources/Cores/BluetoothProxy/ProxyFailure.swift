/// Why a connection was refused before its client could ask anything.
package enum ProxyFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another key.
    case wrongKey
    /// The client does not encrypt, or speaks another protocol.
    case notEncrypted
    /// The bytes are no handshake.
    case malformed
    /// The handshake was not ended in time.
    case tooSlow
    /// Too many connections were in their handshakes.
    case tooManyHandshakes
    /// There are as many clients as there may be.
    case tooManyClients

    package var description: String {
        switch self {
        case .wrongKey: "it has another key"
        case .notEncrypted: "it does not encrypt"
        case .malformed: "it sent no handshake"
        case .tooSlow: "it did not end the handshake in \(ProxySession.handshakeTime.components.seconds) s"
        case .tooManyHandshakes: "too many connections did not end their handshakes"
        case .tooManyClients: "\(ProxyServer.mostClients) clients are served already"
        }
    }

    /// What the client is told in a frame of the handshake; nil: nothing, because it would not understand it.
    var farewell: String? {
        switch self {
        // The words by which Home Assistant knows that its key is wrong.
        case .wrongKey: "Handshake MAC failure"
        // Whoever does not encrypt learns by the frame that encryption is required.
        case .notEncrypted: "Bad indicator byte"
        case .malformed: "Bad handshake packet"
        case .tooManyClients: "Too many clients"
        case .tooSlow, .tooManyHandshakes: nil
        }
    }
}
