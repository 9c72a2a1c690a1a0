import Base
package import Configuration
import Messaging
import Storage

/// The encryption keys in force: they encrypt messages on the loop's and the store's thread, and decrypt commands on
/// the broker's thread.
package final class MessageKeys: Sendable {
    private let ciphers: Ciphers
    private let reader: CommandReader

    package init(_ configuration: Configuration) {
        ciphers = Ciphers(configuration)
        reader = CommandReader(configuration, ciphers: ciphers)
    }

    func update(_ configuration: Configuration) {
        ciphers.update(configuration)
        reader.update(configuration)
    }

    func encrypted(_ payload: [UInt8], of publication: Publication) -> [UInt8] {
        ciphers.encrypted(payload, of: publication)
    }

    var finish: @Sendable (Restamp) -> [UInt8]? { ciphers.finish }
    var read: MessageReading {
        { [reader] message in
            reader.read(message).map { DecodedMessage($0, byteCount: message.payload.count) }
        }
    }
}
