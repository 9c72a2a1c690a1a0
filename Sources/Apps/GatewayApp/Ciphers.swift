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
    private struct Book {
        /// By the base topics of the trackers, those of earlier settings included.
        var byTopic: [ExactString: PayloadCipher?] = [:]
        /// For a message whose topic no tracker has had since the start.
        var first: PayloadCipher?

        mutating func add(_ configuration: Configuration) {
            let ciphers = configuration.trackers.map { $0.encryptionKey.secret.flatMap(PayloadCipher.init(key:)) }
            for (tracker, cipher) in zip(configuration.trackers, ciphers) {
                byTopic.updateValue(cipher, forKey: ExactString(tracker.topics.base))
            }
            first = ciphers.compactMap(\.self).first
        }
    }

    private let book: Mutex<Book>

    package init(_ configuration: Configuration) {
        var book = Book()
        book.add(configuration)
        self.book = Mutex(book)
    }

    package func update(_ configuration: Configuration) { book.withLock { $0.add(configuration) } }

    /// The cipher of a message. A message that waited for the wall clock may be of a tracker that has another topic by now,
    /// and must not become readable by that.
    ///
    /// - Parameter topic: The tracker's base topic.
    package subscript(topic: String) -> PayloadCipher? { book.withLock { $0.byTopic[ExactString(topic)] ?? $0.first } }

    /// The payload of a message in OwnTracks' tree, encrypted if its tracker has a key.
    package func encrypted(_ payload: [UInt8], of publication: Publication) -> [UInt8] {
        guard publication.kind.isOwnTracks, let cipher = self[publication.owner] else { return payload }
        return cipher.encrypt(payload).payload.bytes
    }

    /// Puts the right times into a message that was made before the wall clock was known, and encrypts it if its
    /// tracker has a key. Such a message waits unencrypted, because its times are not known yet.
    ///
    /// - Returns: nil if the message needs no change.
    package func finish(_ restamp: Restamp) -> [UInt8]? {
        encrypted(restamp.stamped() ?? restamp.publication.payload, of: restamp.publication)
    }
}
