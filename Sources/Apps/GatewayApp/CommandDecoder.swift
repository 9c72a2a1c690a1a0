import Base
package import Configuration
import Encryption
import JSON
package import Messaging
import OwnTracks
import Regions
import Synchronization

/// Decodes messages on `/cmd` on the broker's thread, with the settings in force.
package final class CommandDecoder: Sendable {
    private struct Rules {
        /// The trackers' base topics, by command topic.
        var bases: [ExactString: String]
        var numberBase: NumberBase
    }

    private let ciphers: Ciphers
    private let rules: Mutex<Rules>

    package init(_ configuration: Configuration, ciphers: Ciphers) {
        self.ciphers = ciphers
        rules = Mutex(Self.rules(of: configuration))
    }

    package func update(_ configuration: Configuration) {
        rules.withLock { $0 = Self.rules(of: configuration) }
    }

    /// - Returns: nil if the topic is not the `/cmd` of a tracker, or if the message is empty: it removes a retained command.
    package func read(_ message: ReceivedMessage) -> ReceivedCommands? {
        let (base, numberBase) = rules.withLock { ($0.bases[message.topic], $0.numberBase) }
        guard let base else { return nil }
        if message.isAnswer { return answer(message, ciphers[base], numberBase) }
        guard !message.payload.isEmpty else { return nil }
        var received = ReceivedCommands(
            topic: message.topic, retained: message.retained, wasEncrypted: false, commands: [],
            digest: CommandDigest(of: message.payload))
        if let cipher = ciphers[base], let envelope = Self.envelope(in: message.payload) {
            received.open(envelope, cipher, numberBase) { $0.array ?? [$0] }
            if received.commands.isEmpty { received.commands = [.failure(.notAnObject("an empty array"))] }
        } else {
            received.commands = [
                Result { () throws(CommandError) in try Command(parsing: message.payload, base: numberBase) }
            ]
        }
        return received
    }

    /// - Returns: nil for an empty answer, the usual case.
    private func answer(_ message: ReceivedMessage, _ cipher: PayloadCipher?, _ base: NumberBase) -> ReceivedCommands? {
        var received = ReceivedCommands(
            topic: message.topic, retained: false, wasEncrypted: false, commands: [], digest: nil)
        if let json = try? JSONValue(parsing: message.payload) {
            if let cipher, let envelope = EncryptedMessage(json) {
                var remark: String?
                received.open(envelope, cipher, base) { inner in
                    remark = AnswerRemark.text(of: inner)
                    return Command.elements(inAnswer: inner)
                }
                received.remark = remark
            } else {
                received.commands = Command.all(inAnswer: json, base: base)
                received.remark = AnswerRemark.text(of: json)
            }
        } else {
            received.remark = AnswerRemark.text(ofBytes: message.payload)
        }
        return received.commands.isEmpty && received.remark == nil ? nil : received
    }

    private static func envelope(in payload: [UInt8]) -> EncryptedMessage? {
        (try? JSONValue(parsing: payload)).flatMap(EncryptedMessage.init)
    }

    private static func rules(of configuration: Configuration) -> Rules {
        let bases = configuration.trackers.map { (ExactString($0.topics.command), $0.topics.base) }
        return Rules(bases: Dictionary(bases) { first, _ in first }, numberBase: configuration.numberBase)
    }
}

extension ReceivedCommands {
    /// Takes the content of an encrypted message.
    ///
    /// - Parameter elements: The commands among the content.
    fileprivate mutating func open(
        _ envelope: EncryptedMessage, _ cipher: PayloadCipher, _ base: NumberBase,
        _ elements: (JSONValue) -> [JSONValue]
    ) {
        wasEncrypted = true
        let opened: OpenedEnvelope
        do throws(DecryptionError) {
            opened = try cipher.opened(envelope)
        } catch {
            commands = [.failure(.badArgument(action: "encrypted", reason: error.description))]
            return
        }
        do throws(JSONError) {
            for (index, element) in elements(try JSONValue(parsing: opened.plaintext)).enumerated() {
                commands.append(
                    Result { () throws(CommandError) in try Command(element, base: base, acceptsKeys: true) })
                envelopes.append(
                    CommandEnvelope(nonce: opened.nonce, index: index, time: element["tst"]?.asInteger))
            }
        } catch {
            commands = [.failure(.malformed(error))]
        }
    }
}
