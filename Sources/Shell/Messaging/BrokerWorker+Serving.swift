import Base
import CMosquitto
import Glibc
import System

/// For how long a connection must have lasted before a message in isolation is sent.
private let isolationDelay: Duration = .seconds(2)

private let peerClosed = Int32(poll_peer_closed)

extension BrokerWorker {
    /// Serves one connection. It returns when the connection was ended on request.
    mutating func serve(answerBy deadline: MonotonicInstant) throws(BrokerFailure) {
        // The first is due at once.
        var lastTick = MonotonicInstant.now.advanced(by: .seconds(-1))
        while let descriptor = client?.network {
            if acceptedAt == nil, .now >= deadline { throw .silent }
            if try disconnectIfStopping() { return }
            let nextTick = lastTick.advanced(by: tickInterval)
            try poll(descriptor, until: min(nextTick, acceptedAt == nil ? deadline : nextTick, stopBy ?? nextTick))
            if .now >= nextTick {
                try client?.tick()
                lastTick = .now
                subscribeAgain()
            }
            report()
            drainOrders()
            try publish()
            try client?.flush()
            try checkProgress()
        }
        guard stopBy != nil else { throw client?.closed ?? .closed(code: nil) }
    }

    /// How often the library looks after its keepalive, and we after answers that do not come.
    ///
    /// While nothing is on its way only a ping can become due, and each look wakes the processor. A sixth of the
    /// keepalive later is no harm: a broker waits for half of it more.
    private var tickInterval: Duration {
        guard acceptedAt != nil, window.isEmpty else { return .seconds(1) }
        return max(.seconds(1), min(.seconds(10), settings.keepalive / 6))
    }

    /// Waits for the socket or the owner, and lets the library read and write.
    private mutating func poll(_ descriptor: Int32, until end: MonotonicInstant) throws(BrokerFailure) {
        let wanted = POLLIN | peerClosed | (client?.hasUnsent == true ? POLLOUT : 0)
        var watched = [
            pollfd(fd: descriptor, events: Int16(wanted), revents: 0),
            pollfd(fd: mailbox.bell.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        let ready = Glibc.poll(&watched, 2, MonotonicInstant.now.milliseconds(until: end))
        guard ready > 0 else { return }
        let happened = Int32(watched[0].revents)
        if happened & POLLOUT != 0 { try client?.flush() }
        if happened & (POLLIN | peerClosed | POLLHUP | POLLERR) != 0 {
            for cut in try client?.receive() ?? [] {
                let topic = String(decoding: cut.topic, as: UTF8.self)
                mailbox.post([.untaken(.dropped(topic: topic, size: cut.size))])
            }
            try client?.flush()
        }
    }

    /// Hands messages over until the window is full.
    private mutating func publish() throws(BrokerFailure) {
        guard let acceptedAt else { return }
        // The connection must last without the message first. Otherwise the message would not be the proven cause.
        if window.isIsolating, acceptedAt.duration(to: .now) < isolationDelay { return }
        while client?.network != nil, let message = window.next() {
            switch client?.publish(message) {
            case .handedOver(let messageID):
                if window.inFlight.isEmpty { lastProgress = .now }
                window.handedOver(message, messageID: messageID)
                // QoS 0 is answered within the call, if it could be written at once.
                if message.qos == .atMostOnce { report() }
            case .refused(let why):
                mailbox.post([.refused(message.token, why)])
            case .failed, nil:
                window.giveBack(message)
                throw .other("libmosquitto is out of memory")
            }
        }
    }

    private mutating func checkProgress() throws(BrokerFailure) {
        // An unsent message cannot be answered. If it is never sent, the keepalive detects it.
        guard acceptedAt != nil, !window.inFlight.isEmpty, client?.wantsToWrite == false, client?.hasUnsent == false,
            lastProgress.duration(to: .now) > settings.acknowledgeTimeout
        else { return }
        throw .unacknowledged
    }

    /// After the order to stop: waits for messages in flight, within limits, then sends DISCONNECT.
    private mutating func disconnectIfStopping() throws(BrokerFailure) -> Bool {
        guard let stopBy else { return false }
        let late = MonotonicInstant.now >= stopBy
        guard acceptedAt != nil, !late else {
            // The last messages, such as "offline", may not have reached the broker. Then it publishes the will.
            if acceptedAt != nil, !window.isEmpty { client?.hangUp() } else { client?.disconnect() }
            return true
        }
        guard window.isEmpty, !hasDisconnected else { return false }
        hasDisconnected = true
        client?.disconnect()
        // Written at once, as a rule; else the next rounds write it.
        return client?.network == nil
    }

    mutating func subscribe(to wanted: Set<String>) {
        let gone = subscriptions.subtracting(wanted)
        let new = wanted.subtracting(subscriptions)
        subscriptions = wanted
        guard acceptedAt != nil else { return }
        for filter in gone { client?.unsubscribe(filter) }
        request(new)
    }

    /// Subscribes once a retained message that is too large has been left alone for long enough, and to what the broker
    /// refused a while ago.
    private mutating func subscribeAgain() {
        guard acceptedAt != nil else { return }
        if let withheldUntil, .now >= withheldUntil {
            self.withheldUntil = nil
            return request(subscriptions)
        }
        request(refusedSubscriptions.due(at: .now, wanted: subscriptions))
    }

    private mutating func request(_ filters: Set<String>) {
        if let withheldUntil, .now < withheldUntil { return }
        for filter in filters {
            if let messageID = client?.subscribe(filter) {
                requested[messageID] = filter
            } else {
                mailbox.post([.subscriptionRefused(topicFilter: filter)])
            }
        }
    }

    /// Reports to the owner what the callbacks recorded.
    mutating func report() {
        guard let sink = client?.sink else { return }
        var events: [BrokerEvent] = []
        if acceptedAt == nil, let connack = sink.connack, connack.code == 0 {
            acceptedAt = .now
            hasBeenAccepted = true
            lastProgress = .now
            events += window.removeTransient().map { .refused($0.token, .late) }
            events.append(.connected(sessionPresent: connack.sessionPresent))
            requested = [:]
            refusedSubscriptions = RefusedSubscriptions()
            // Also when the session was kept: the wanted topics may have changed since.
            request(subscriptions)
        }
        for completion in sink.completions {
            guard let message = window.answered(messageID: completion.messageID) else { continue }
            lastProgress = .now
            events.append(
                completion.code < 0x80
                    ? .acknowledged(message.token)
                    : .refused(message.token, .byBroker(reasonCode: completion.code)))
        }
        for suback in sink.subacks {
            guard let filter = requested.removeValue(forKey: suback.messageID) else { continue }
            guard suback.granted.contains(where: { $0 >= 0x80 }) else {
                refusedSubscriptions.granted(filter)
                events.append(.subscribed(topicFilter: filter))
                continue
            }
            if refusedSubscriptions.refused(filter, at: .now) {
                events.append(.subscriptionRefused(topicFilter: filter))
            }
        }
        let messages = sink.messages
        mailbox.post(events, unusableMessages: sink.unusableMessages)
        sink.forgetReported()
        // After the answers, which need not wait until a large message has been read.
        for message in messages { mailbox.post([event(for: message)]) }
    }
}
