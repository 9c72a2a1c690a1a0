package import Base
package import Configuration
import Encryption
package import SiteProtocol

/// Encrypts what is published below `ibeacon-rooms/<site>`, and decrypts what arrives there, if the site has a key.
///
/// The envelope is that of OwnTracks. An empty payload stays empty, because it deletes a retained message. The envelope
/// does not contain the topic: see "The key of a site" in Docs/security.md.
package struct SiteSeal: Hashable, Sendable {
    private let cipher: SiteCipher?
    private let publishesPlainState: Bool

    /// - Parameter rooms: nil: there is no site, and nothing is encrypted.
    package init(_ rooms: RoomsSettings?) {
        self.init(key: rooms?.encryptionKey.secret, publishesPlainState: rooms?.publishesPlainState ?? false)
    }

    /// - Parameters:
    ///   - key: At most 32 bytes of UTF-8; nil: nothing is encrypted.
    ///   - publishesPlainState: Whether states are published unencrypted in spite of the key.
    package init(key: Secret?, publishesPlainState: Bool = false) {
        cipher = key.flatMap(SiteCipher.init)
        self.publishesPlainState = publishesPlainState
    }

    /// Whether the site has a key.
    package var isOn: Bool { cipher != nil }

    /// Whether messages without encryption have a part in the site: states are published so, and ESPresense nodes are
    /// heard.
    package var allowsPlain: Bool { cipher == nil || publishesPlainState }

    /// Whether a payload is encrypted, in the form that is published here.
    package static func isSealed(_ payload: [UInt8]) -> Bool { PayloadCipher.isSealed(payload) }

    /// The payload as it is published.
    package func sealed(_ payload: [UInt8], for topic: String) -> [UInt8] {
        guard let cipher, !payload.isEmpty, let topic = RoomTopic(topic), topic.site != nil,
            !(publishesPlainState && topic.isState)
        else { return payload }
        return cipher.cipher.sealed(payload)
    }

    /// The payload as it was before it was encrypted.
    ///
    /// - Throws: Why the message must be ignored.
    package func opened(_ payload: [UInt8], of topic: RoomTopic) throws(SealError) -> [UInt8] {
        switch topic {
        case .espresense, .espresenseAlias, .espresenseSettings, .espresenseStatus, .espresenseTelemetry:
            // A session at the broker, or a recording, may have these messages without a subscription of now.
            guard allowsPlain else { throw .plain }
        default: break
        }
        guard topic.site != nil, !payload.isEmpty else { return payload }
        return try opened(payload, orPlain: publishesPlainState && topic.isState).plaintext
    }

    /// Whether a payload is an encrypted state of a tag, a room or a gateway, which is published unencrypted here.
    package func isSealedInVain(_ payload: [UInt8], of topic: RoomTopic) -> Bool {
        guard isOn, publishesPlainState, topic.isState, Self.isSealed(payload) else { return false }
        // The card of another service says the same in either form.
        if case .service = topic { return false }
        return true
    }

    /// The payload of a command to the service as it was before it was encrypted, and the nonce; nil: the site has no key.
    ///
    /// - Throws: Why the command must be refused.
    package func opened(command payload: [UInt8]) throws(SealError) -> (plaintext: [UInt8], nonce: [UInt8]?) {
        try opened(payload, orPlain: false)
    }

    /// - Parameter isPlainAllowed: Whether a payload may be unencrypted although the site has a key.
    private func opened(
        _ payload: [UInt8], orPlain isPlainAllowed: Bool
    ) throws(SealError) -> (plaintext: [UInt8], nonce: [UInt8]?) {
        guard let cipher else {
            if PayloadCipher.isSealed(payload) { throw .noKey }
            return (payload, nil)
        }
        do throws(DecryptionError) {
            let envelope = try cipher.cipher.opened(payload)
            return (envelope.plaintext, envelope.nonce)
        } catch .notEncrypted {
            guard isPlainAllowed else { throw .plain }
            return (payload, nil)
        } catch {
            throw .wrongKey("\(error)")
        }
    }
}

/// A cipher that is compared by its key.
private struct SiteCipher: Hashable {
    let key: Secret
    let cipher: PayloadCipher

    init?(_ key: Secret) {
        guard let cipher = PayloadCipher(key: key) else { return nil }
        (self.key, self.cipher) = (key, cipher)
    }

    static func == (left: SiteCipher, right: SiteCipher) -> Bool { left.key == right.key }

    func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
