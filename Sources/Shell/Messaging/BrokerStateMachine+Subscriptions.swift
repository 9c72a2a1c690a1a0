import Base

/// Subscriptions, and what the broker refuses.
extension BrokerStateMachine {
    // MARK: Subscriptions

    /// The filters to subscribe to now: what the broker refused a while ago, and everything once a retained message that is
    /// too large has been left alone for long enough.
    mutating func dueSubscriptions(at now: MonotonicInstant) -> [Action] {
        guard connection != nil else { return [] }
        if let withheldUntil, now >= withheldUntil {
            self.withheldUntil = nil
            return request(subscriptions, at: now)
        }
        var due: Set<String> = []
        let wanted = subscriptions
        update { due = $0.refused.due(at: now, wanted: wanted) }
        // Nothing else may be the reason if the connection ends.
        if window.inFlight.isEmpty { due.formUnion(fatal.due(at: now, wanted: wanted)) }
        return request(due, at: now)
    }

    mutating func request(_ filters: Set<String>, at now: MonotonicInstant) -> [Action] {
        if let withheldUntil, now < withheldUntil { return [] }
        let admitted = filters.filter { fatal.admits($0, at: now) }
        update { $0.filters.add(admitted) }
        return requestNext(at: now)
    }

    private mutating func requestNext(at now: MonotonicInstant) -> [Action] {
        var next: String?
        update { next = $0.filters.next(at: now) }
        return next.map { [.subscribe($0)] } ?? []
    }

    /// The subscription was sent.
    ///
    /// - Parameter messageID: nil: libmosquitto does not take the filter.
    mutating func requested(_ filter: String, messageID: Int32?, at now: MonotonicInstant) -> [Action] {
        update { $0.filters.sent(filter, messageID: messageID, at: now) }
        guard messageID == nil else { return [] }
        let news = refused(.subscription, filter, because: "not a filter that MQTT can carry")
        return [.tell(.subscriptionRefused(topicFilter: filter)), news] + requestNext(at: now)
    }

    /// The broker answered a subscription.
    ///
    /// - Parameter code: The highest quality that is granted, or a code of 0x80 and above.
    mutating func subscribed(messageID: Int32, code: UInt8, at now: MonotonicInstant) -> [Action] {
        var event: BrokerEvent?
        var answered: String?
        let isGranted = code < 0x80
        update { connection in
            guard let filter = connection.filters.answered(messageID) else { return }
            answered = filter
            if isGranted {
                connection.refused.granted(filter)
                event = .subscribed(topicFilter: filter)
            } else if connection.refused.refused(filter, at: now) {
                event = .subscriptionRefused(topicFilter: filter)
            }
        }
        guard let answered else { return [] }
        // MQTT 3.1.1 has the one code, without a reason.
        let reason = code == 0x80 ? "no reason given" : BrokerFailure.reason(code: code)
        let news =
            isGranted
            ? admitted(.subscription, answered)
            : [refused(.subscription, answered, because: reason, BrokerFailure.cause(code: code))]
        fatal.answered(answered)
        return (event.map { [.tell($0)] } ?? []) + news + requestNext(at: now)
    }

    /// The filter that made the broker end the connection; nil: another reason is possible.
    func suspectFilter(of failure: BrokerFailure, at now: MonotonicInstant) -> String? {
        guard let connection, failure.mayMeanFilter, window.inFlight.isEmpty else { return nil }
        return connection.filters.suspect(at: now)
    }

    // MARK: For the record of refusals

    mutating func note(_ message: QueuedPublication, _ why: Refusal) -> [Action] {
        why.kind.map { [refused($0, message.publication.topic, because: why.reason, why.cause)] } ?? []
    }

    mutating func refused(
        _ kind: Refused.Kind, _ object: String, because reason: String, _ cause: Refused.Cause = .rights
    ) -> Action {
        let refused = Refused(kind == .subscription ? kind : .message, object, on: settings.name, because: "")
        if refusedObjects.count < Self.mostRefusedObjects { refusedObjects.insert(refused) }
        return .tell(.refusal(Refused(kind, object, on: settings.name, because: reason, cause: cause)))
    }

    mutating func admitted(_ kind: Refused.Kind, _ object: String) -> [Action] {
        guard !refusedObjects.isEmpty else { return [] }
        let refused = Refused(kind, object, on: settings.name, because: "")
        return refusedObjects.remove(refused) == nil ? [] : [.tell(.admitted(refused))]
    }
}
