import Base
import CMosquitto
import Glibc
import System

/// libmosquitto's client, owned: one handle from `mosquitto_new` to `mosquitto_destroy`, used by one thread.
/// Without TLS it outlives connections: libmosquitto keeps in it what was sent and not acknowledged and sends
/// that again, under the same packet identifiers, right after the next CONNACK (`message__retry_check`).
/// With TLS it does so only for the sake of QoS 2 (`BrokerStateMachine`).
struct Client: ~Copyable {
    private let handle: OpaquePointer
    let sink: CallbackSink
    private let settings: BrokerSettings
    /// The host of the latest attempt.
    private var host: String?
    private var relay: SocketRelay?
    /// nil while TLS hides the packets.
    private var filter: PacketFilter?
    /// With TLS: bytes from the broker since libmosquitto last reported a packet. They belong to one packet.
    private var unexplained = 0

    /// Safe to call from anywhere, any number of times.
    private static let libraryReady: Bool = mosquitto_lib_init() == MOSQ_ERR_SUCCESS.rawValue

    /// - Throws: `.settings` when libmosquitto cannot work with them, or a file cannot be read.
    init(settings: BrokerSettings) throws(BrokerFailure) {
        let sink = CallbackSink(settings)
        guard Self.libraryReady, let handle = mosquitto_new(settings.clientID, settings.cleanSession, nil) else {
            throw .settings("libmosquitto refuses the client id '\(settings.clientID)'")
        }
        Callbacks.install(on: handle, sink: sink)
        do {
            try Self.apply(settings, to: handle)
        } catch {
            // It may still log, into the sink.
            withExtendedLifetime(sink) { mosquitto_destroy(handle) }
            throw error
        }
        self.init(handle: handle, sink: sink, settings: settings)
    }

    /// Apart from what throws: where an initialiser throws, Swift 6.2 destroys twice the properties that begin with a
    /// value.
    private init(handle: OpaquePointer, sink: CallbackSink, settings: BrokerSettings) {
        self.handle = handle
        self.sink = sink
        self.settings = settings
    }

    deinit { mosquitto_destroy(handle) }

    /// The descriptor to poll, or nil when there is no connection.
    var network: Int32? { descriptor == nil ? nil : relay?.network }

    /// Something waits for room on the network.
    var hasUnsent: Bool { relay?.hasUnsent == true }

    /// libmosquitto's end of the connection; nil when it has closed it.
    private var descriptor: Int32? {
        let descriptor = mosquitto_socket(handle)
        return descriptor < 0 ? nil : descriptor
    }

    var wantsToWrite: Bool { mosquitto_want_write(handle) }

    /// Sets the will of the next connection.
    func set(_ will: BrokerSettings.Will) throws(BrokerFailure) { try Self.apply(will, to: handle) }

    /// Resolves and connects TCP, which may block for as long as the resolver and the kernel take; TLS and
    /// MQTT follow through `read` and `write`.
    ///
    /// Not `mosquitto_connect_async`: that one tries only the first address of a name, so `localhost` fails
    /// where a broker listens on IPv4 alone.
    /// What is in flight is sent again to whichever host is connected to.
    mutating func connect(to host: String) throws(BrokerFailure) {
        sink.beginAttempt()
        // The old connection ends here, if it has not yet.
        relay = nil
        unexplained = 0
        errno = 0
        let result: Int32
        if host == self.host {
            result = mosquitto_reconnect(handle)
        } else {
            let seconds = settings.keepalive.components.seconds
            let keepalive = seconds <= 0 ? 0 : Int32(max(5, min(seconds, 65535)))
            result = Self.withConnectProperties(of: settings) { properties in
                mosquitto_connect_bind_v5(
                    handle, host, Int32(settings.port), keepalive, nil, properties)
            }
            self.host = host
        }
        let reason = errno
        switch result {
        case MOSQ_ERR_EAI.rawValue: throw .nameNotResolved(String(cString: gai_strerror(reason)))
        // TCP was connected, and the other side refused TLS.
        case MOSQ_ERR_ERRNO.rawValue where reason == EPROTO: throw closed
        case MOSQ_ERR_ERRNO.rawValue: throw .unreachable(systemMessage(reason))
        default: try check(result)
        }
        guard let descriptor else { throw closed }
        relay = try SocketRelay(inPlaceOf: descriptor)
        let isPlain = settings.tls == nil
        filter =
            isPlain
            ? PacketFilter(limit: settings.limits.largestPacket, hasProperties: settings.protocolLevel == .v5) : nil
    }

    /// Called when `network` is readable: reads one chunk, and lets libmosquitto read the part that the filter passes.
    /// - Returns: messages that lost their payload.
    mutating func receive() throws(BrokerFailure) -> [PacketFilter.Cut] {
        // Never more than one chunk is between the network and libmosquitto.
        guard relay?.hasUnread != true, let chunk = relay?.receive() else {
            try read()
            return []
        }
        let cuts = try admit(chunk)
        let before = sink.activity
        try read()
        guard filter == nil else { return cuts }
        unexplained = sink.activity == before ? unexplained + chunk.count : 0
        // TLS adds 22 bytes or more to each record, of 16 KiB as a rule.
        guard unexplained <= settings.limits.largestPacket + settings.limits.largestPacket / 64 else {
            throw .messageTooLarge
        }
        return []
    }

    /// Queues the part of a chunk that the filter passes for libmosquitto.
    private mutating func admit(_ chunk: ArraySlice<UInt8>) throws(BrokerFailure) -> [PacketFilter.Cut] {
        var passed: [UInt8] = []
        do throws(PacketFilter.Violation) {
            guard try filter?.pass(chunk, to: &passed) != nil else {
                relay?.queue(Array(chunk))
                return []
            }
        } catch {
            switch error {
            case .exactlyOnce: throw .unaskedExactlyOnce
            // It is perhaps no broker.
            case .unknownPacket: throw .protocolViolation
            default: throw .invalidPacket(error.description)
            }
        }
        relay?.queue(passed)
        let cuts = filter?.drainCuts() ?? []
        for cut in cuts { sink.cutTopics[String(decoding: cut.topic, as: UTF8.self), default: 0] += 1 }
        return cuts
    }

    /// Lets libmosquitto read all that is there for it.
    private mutating func read() throws(BrokerFailure) {
        while let descriptor {
            let hasMoved = relay?.handOver() == true
            let waiting = bytes_to_read(descriptor)
            guard waiting > 0 || relay?.hasEnded == true else { return }
            let result = mosquitto_loop_read(handle, 1)
            // Without a filter before it, libmosquitto allocates what a packet's length announces. What it is refused
            // by the system (RLIMIT_AS, no overcommit) is no smaller the next time.
            if filter == nil, result == MOSQ_ERR_NOMEM.rawValue { throw .messageTooLarge }
            try check(result)
            if sink.hasExactlyOnce { throw .unaskedExactlyOnce }
            guard self.descriptor == descriptor else { return }
            // While TLS shakes hands, libmosquitto takes the end of the connection for "try again", and
            // would be asked again at once, for ever.
            if waiting == 0 { throw closed }
            guard hasMoved || bytes_to_read(descriptor) != waiting else { return }
        }
    }

    /// Sends the bytes that libmosquitto writes, as far as the network accepts them.
    mutating func flush() throws(BrokerFailure) {
        relay?.send()
        while descriptor != nil, wantsToWrite, !hasUnsent {
            try check(mosquitto_loop_write(handle, 1))
            guard relay?.send() == true else { return }
        }
    }

    /// Keepalive; to be called about once a second, or as seldom as a ping may be late.
    mutating func tick() throws(BrokerFailure) { try check(mosquitto_loop_misc(handle)) }

    enum PublishResult {
        /// It is libmosquitto's now; a completion for this packet identifier follows.
        case handedOver(messageID: Int32)
        case refused(Refusal)
        /// libmosquitto did not take it; try again on another connection.
        case failed
    }

    mutating func publish(_ message: Publication) -> PublishResult {
        // Not a topic that a C string can carry; it would be cut at the NUL and go to another topic.
        guard !message.topic.utf8.contains(0), message.topic.utf8.count <= 65535 else { return .refused(.malformed) }
        guard let count = Int32(exactly: message.payload.count) else { return .refused(.malformed) }
        var messageID: Int32 = 0
        let result = message.payload.withUnsafeBytes { payload in
            mosquitto_publish_v5(
                handle, &messageID, message.topic, count, payload.baseAddress, Int32(message.qos.rawValue),
                message.isRetained, nil)
        }
        switch result {
        case MOSQ_ERR_INVAL.rawValue, MOSQ_ERR_MALFORMED_UTF8.rawValue, MOSQ_ERR_PAYLOAD_SIZE.rawValue:
            return .refused(.malformed)
        case MOSQ_ERR_OVERSIZE_PACKET.rawValue:
            return .refused(.tooLarge)
        case MOSQ_ERR_QOS_NOT_SUPPORTED.rawValue:
            return .refused(.byBroker(reasonCode: UInt8(MQTT_RC_QOS_NOT_SUPPORTED.rawValue)))
        case MOSQ_ERR_NOMEM.rawValue:
            return .failed
        default:
            // An error from here on is the socket's. A QoS 1 or 2 message has been queued by then and will
            // be sent again; a QoS 0 one is given back by the window when the connection ends.
            return .handedOver(messageID: messageID)
        }
    }

    /// The packet identifier, or nil if libmosquitto does not take the filter.
    mutating func subscribe(_ topicFilter: String) -> Int32? {
        guard !topicFilter.utf8.contains(0) else { return nil }
        var messageID: Int32 = 0
        let qos = settings.transientFilters.contains(topicFilter) ? .atMostOnce : settings.subscriptionQoS
        let result = mosquitto_subscribe(handle, &messageID, topicFilter, Int32(qos.rawValue))
        return result == MOSQ_ERR_INVAL.rawValue || result == MOSQ_ERR_MALFORMED_UTF8.rawValue ? nil : messageID
    }

    mutating func unsubscribe(_ topicFilter: String) {
        _ = mosquitto_unsubscribe(handle, nil, topicFilter)
    }

    /// Sends DISCONNECT, so that the will is not published. It is written at once if there is room, and
    /// `descriptor` is nil from then on; else `write` goes on with it.
    mutating func disconnect() {
        _ = mosquitto_disconnect(handle)
        relay?.drain(limit: 500)
    }

    /// Ends the connection without DISCONNECT: the next read or write finds it closed.
    mutating func hangUp() { relay?.hangUp() }

    /// The failure for a connection that the other side closed.
    var closed: BrokerFailure {
        // With TLS 1.3, a client learns after the handshake that its certificate is missing or not accepted, and
        // the connection may be closed before it has read that.
        guard settings.tls != nil, sink.connack == nil else { return .closed(code: nil) }
        guard sink.complaints.isEmpty else { return .tls(tlsProblem) }
        let certificate = settings.tls?.clientCertificateFile == nil ? "ask for a client certificate" : "accept ours"
        return .tls("the broker closed the connection before it answered (does it \(certificate)?)")
    }

    /// Throws the failure: a result of the library, or a connection that the library closed without an error.
    private func check(_ result: Int32) throws(BrokerFailure) {
        // The broker's own reason is more exact than the library's.
        if let connack = sink.connack, connack.code != 0 { throw .notAccepted(code: connack.code) }
        if let code = sink.disconnectCode { throw .closed(code: code) }
        switch result {
        case MOSQ_ERR_SUCCESS.rawValue, MOSQ_ERR_CONN_PENDING.rawValue: break
        case MOSQ_ERR_TLS.rawValue: throw .tls(tlsProblem)
        case MOSQ_ERR_KEEPALIVE.rawValue: throw .keepaliveMissed
        case MOSQ_ERR_PROTOCOL.rawValue, MOSQ_ERR_MALFORMED_PACKET.rawValue: throw .protocolViolation
        // errno is useless here: closing the socket has overwritten it.
        case MOSQ_ERR_CONN_LOST.rawValue, MOSQ_ERR_NO_CONN.rawValue, MOSQ_ERR_ERRNO.rawValue: throw closed
        case MOSQ_ERR_INVAL.rawValue: throw .settings("libmosquitto refuses these settings")
        default: throw .other(String(cString: mosquitto_strerror(result)))
        }
    }
}
