internal import Beacon
internal import Encryption
internal import Gateway
internal import OwnTracks
internal import Presence
internal import Regions
internal import Runtime
internal import Storage

extension Daemon {
    /// Carries out what the gateway decided: all that one decision changes is written in one transaction,
    /// and no message goes to the broker before it is on the disk.
    ///
    /// - Parameter also: what else belongs into the transaction.
    func perform(_ effects: [Effect], also: [StoreChange] = []) {
        guard !effects.isEmpty || !also.isEmpty else { return }
        var changes = also
        var movesSomebody = false
        var requests: [SettingsRequest] = []
        for effect in effects {
            switch effect {
            case .publish(let message): changes += change(for: message)
            case .regions(let tracker, let regions):
                changes.append(.regions(tracker: base(of: tracker), regions.regions))
                movesSomebody = true
            case .record(let record):
                if settings.configuration.historyDays > 0 { changes.append(.history(entry(for: record))) }
                movesSomebody = true
            case .monitoring(let tracker, let mode):
                changes.append(.value(key: "monitoring \(base(of: tracker))", Array("\(mode.rawValue)".utf8)))
            case .reconfigure(let changes, let waypoints, let tracker):
                requests.append(SettingsRequest(changes: changes, waypoints: waypoints, tracker: tracker))
            case .log: break
            }
        }
        // Who is where, and the message that says so, are on the disk together or not at all.
        if movesSomebody { changes.append(presenceChange(at: Clocks.now())) }
        commit(changes)
        // While the disk is at it; the message is not to wait for the page and the journal.
        note(effects)
        for effect in effects {
            if let entry = effect.logEntry { write(entry) }
        }
        // Last, for what they change writes its own.
        for request in requests { reconfigure(request) }
    }

    func commit(_ changes: [StoreChange]) {
        guard !changes.isEmpty else { return }
        store?.submit(.commit(token: nextCommit, changes))
        nextCommit += 1
    }

    func drainStore() {
        for event in store?.drain() ?? [] {
            desk.note(event)
            switch event {
            case .opened(let snapshot): open(snapshot)
            case .deliver(let rows): deliver(rows)
            case .regionEdits(let edits): take(edits)
            case .notice(let notice): write(notice)
            case .unavailable(let failure):
                if !refuses(failure) { log.error("the state cannot be used: \(failure.error); it is tried again") }
            case .troubled(let failure):
                log.error("the state cannot be written: \(failure.error); it is tried again")
            case .recovered(let after): log.notice("the state can be written again, after \(decimal(after)) s")
            case .failed(_, let error, let willRetry):
                if !willRetry { gateway.forgetKeptPresence() }
                log.once("store", .error, "a write failed: \(error)\(willRetry ? "; it is tried again" : "")")
            case .stateLost:
                // The file that holds them is another.
                lastEdits = [:]
                writeAll()
            case .committed, .stopped: break
            }
        }
    }

    /// Some trouble with the state is not cured by waiting. Then the service ends, and says why.
    private func refuses(_ failure: StoreFailure) -> Bool {
        let code: ExitCode
        switch failure.error {
        case .inUse: code = .unavailable
        case .newerSchema: code = .configuration
        case .database, .system, .absent: return false
        }
        log.error("cannot start: \(failure.error)")
        loop.exit(code.rawValue)
        return true
    }

    /// Everything that is kept, anew: the file under it is another.
    private func writeAll() {
        log.warning("the state is written anew, whole")
        var changes: [StoreChange] = []
        for tracker in gateway.trackers {
            let base = tracker.topics.base
            changes.append(.regions(tracker: base, tracker.regions.regions))
            changes.append(.value(key: "monitoring \(base)", Array("\(tracker.monitoring.rawValue)".utf8)))
        }
        if let remoteChanges { changes.append(.value(key: Self.remoteKey, remoteChanges.bytes)) }
        changes.append(.value(key: Self.servedTopicsKey, servedTopics))
        changes.append(.presence(presenceRecord(at: Clocks.now())))
        commit(changes)
    }

    private func open(_ snapshot: StoreSnapshot) {
        do {
            try begin(with: snapshot)
        } catch {
            log.error("cannot start: \(error)")
            loop.exit(ExitCode.software.rawValue)
        }
    }

    private func change(for message: Message) -> [StoreChange] {
        guard !settings.configuration.broker.isOffline else { return [] }
        let kind: MessageKind =
            switch message.kind {
            case .transition: .transition
            case .location: .location
            case .state: .state
            case .reply: .other
            }
        var payload = message.payload
        // What still waits for its times is encrypted when it has them.
        if message.isEncrypted, message.unstamped == nil, let cipher = ciphers[base(of: message.tracker)] {
            payload = cipher.encrypt(payload).payload.bytes
        }
        return [
            .message(
                OutgoingMessage(
                    tracker: base(of: message.tracker), topic: message.topic, payload: payload,
                    qos: message.qos, retain: message.isRetained, kind: kind,
                    happened: message.unstamped ?? Clocks.now(),
                    stamp: message.unstamped == nil ? .exact : .provisional))
        ]
    }

    private func entry(for record: TransitionRecord) -> HistoryEntry {
        HistoryEntry(
            tracker: base(of: record.key.tracker), rid: record.key.rid, name: record.name,
            event: record.isEnter ? .enter : .leave, beacon: record.beacon, timestamp: record.timestamp,
            stamp: gateway.wallClock.isKnown ? .exact : .provisional, happened: record.instant)
    }

    func base(of tracker: Int) -> String { gateway.trackers[tracker].topics.base }

    private func write(_ entry: LogEntry) {
        let fields = entry.fields.merging(["IBEACON_KIND": entry.kind]) { own, _ in own }
        switch entry.level {
        case .debug: log.write(.debug, entry.text, fields: fields)
        case .info: log.write(.info, entry.text, fields: fields)
        case .notice: log.write(.notice, entry.text, fields: fields)
        case .warning: log.once(entry.kind, .warning, entry.text, fields: fields)
        case .error: log.once(entry.kind, .error, entry.text, fields: fields)
        }
    }

    private func write(_ notice: StoreNotice) {
        switch notice.level {
        case .info: log.info(notice.text)
        case .warning: log.warning(notice.text)
        case .error: log.error(notice.text)
        }
    }
}
