package import Base
package import Configuration
package import Encryption
import JSON
import OwnTracks
import Shell
package import Storage
import Synchronization

/// The keys in force, for the loop's thread and the store's.
package final class Ciphers: Sendable {
    private let byTopic: Mutex<[ExactString: PayloadCipher]>

    package init(_ configuration: Configuration) {
        byTopic = Mutex(Self.ciphers(of: configuration))
    }

    package func update(_ configuration: Configuration) {
        byTopic.withLock { $0 = Self.ciphers(of: configuration) }
    }

    /// - Parameter topic: The tracker's base topic.
    package subscript(topic: String) -> PayloadCipher? { byTopic.withLock { $0[topic] } }

    /// The payload of a message in OwnTracks' tree, encrypted if its tracker has a key.
    package func encrypted(_ payload: [UInt8], of publication: Publication) -> [UInt8] {
        guard publication.kind.isOwnTracks, let cipher = self[publication.owner] else { return payload }
        return cipher.encrypt(payload).payload.bytes
    }

    private static func ciphers(of configuration: Configuration) -> [ExactString: PayloadCipher] {
        var ciphers: [ExactString: PayloadCipher] = [:]
        for tracker in configuration.trackers {
            guard let key = tracker.encryptionKey else { continue }
            ciphers[tracker.topics.base] = PayloadCipher(key: key)
        }
        return ciphers
    }

    /// Puts the right times into a message that was made before the wall clock was known, and encrypts it if its
    /// tracker has a key. Such a message waits unencrypted, because its times are not known yet.
    ///
    /// - Returns: nil if the message needs no change.
    package func finish(_ restamp: Restamp) -> [UInt8]? {
        encrypted(restamp.stamped() ?? restamp.publication.payload, of: restamp.publication)
    }
}
