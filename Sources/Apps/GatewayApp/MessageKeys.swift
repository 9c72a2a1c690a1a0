import Base
package import Configuration
import Messaging
import Storage

/// The encryption keys in force: they encrypt messages on the loop's and the store's thread, and decrypt commands on
/// the broker's thread.
package final class MessageKeys: Sendable {
    private let ciphers: Ciphers
    private let decoder: CommandDecoder

    package init(_ configuration: Configuration) {
        ciphers = Ciphers(configuration)
        decoder = CommandDecoder(configuration, ciphers: ciphers)
    }

    func update(_ configuration: Configuration) {
        ciphers.update(configuration)
        decoder.update(configuration)
    }

    func encrypted(_ payload: [UInt8], of publication: Publication) -> [UInt8] {
        ciphers.encrypted(payload, of: publication)
    }

    var finish: @Sendable (Restamp) -> [UInt8]? { ciphers.finish }
    var read: MessageReading {
        { [decoder] message in
            decoder.read(message).map { DecodedMessage($0, byteCount: message.payload.count) }
        }
    }
}
