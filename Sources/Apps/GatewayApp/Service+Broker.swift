package import Base
import Configuration
import Gateway
import GatewayEntities
package import Health
package import Messaging
import OwnTracks
import Runtime
package import Shell

/// The connection for everything of OwnTracks. Beside it there is the second connection (`SideConnection`).
extension Service {
    package func connection(at now: MonotonicInstant) -> BrokerRequest? {
        guard !configuration.broker.isOffline else {
            log.notice("offline (port 0): events are kept in the history, nothing is sent")
            return nil
        }
        return BrokerRequest(
            settings: BrokerSettings(configuration, for: .ownTracks(at: host.wallClock.epochSeconds(at: now))),
            filters: filters, read: keys.read)
    }

    package func opened() throws { try side.open() }

    /// Messages outside OwnTracks' tree that were stored for an MQTT broker have no meaning over HTTP.
    package func delivers(_ publication: Publication) -> Bool {
        configuration.broker.endpoint == nil || publication.kind.isOwnTracks
    }

    package func connected(isNew: Bool, at now: MonotonicInstant) {
        app.handle(.brokerConnected(isNew: isNew), at: now)
    }

    package func received(_ message: ReceivedMessage, at now: MonotonicInstant) {
        // A retained message tells of an earlier start.
        guard birthTopics.contains(message.topic), !message.retained, message.payload == Array("online".utf8) else {
            return
        }
        app.handle(.homeAssistantStarted, at: now)
    }

    package func received(_ message: DecodedMessage, at now: MonotonicInstant) {
        guard let message = message.content as? ReceivedCommands,
            let tracker = app.core.trackers.firstIndex(where: { $0.topics.command.hasSameBytes(as: message.topic) })
        else { return }
        for (index, command) in message.commands.enumerated() {
            let received = ReceivedCommand(
                tracker: tracker, command: command, isRetained: message.retained, wasEncrypted: message.wasEncrypted,
                digest: message.digest?.command(at: index),
                envelope: message.envelopes.indices.contains(index) ? message.envelopes[index] : nil)
            app.handle(.command(received), at: host.now)
        }
    }

    /// The topics of commands, and those on which Home Assistant may announce its start, where anything is published again then.
    var filters: Set<String> {
        var topics = usesBirth ? birthTopics : []
        if configuration.obeysCommands { topics.formUnion(app.core.trackers.map(\.topics.command)) }
        return topics
    }

    private var usesBirth: Bool { configuration.homeAssistant.discovery || configuration.reannounces }

    private var birthTopics: Set<String> { DiscoveryTopics.births(prefix: configuration.homeAssistant.prefix) }

    package func consequence(of refused: Refused) -> RefusalRecord.Consequence? {
        RefusalConsequence(
            trackers: app.core.trackers,
            discovery: DiscoveryTopics(
                prefix: configuration.homeAssistant.prefix, device: configuration.trackers[0].deviceID),
            feed: feed.settings, feedIsOn: feed.isOn, phones: phones.site
        ).consequence(of: refused)
    }
}
