package import Base
import Beacon

/// A Bluetooth proxy for Home Assistant: the server of ESPHome's native API, encrypted, with passive raw advertisements and nothing
/// else. No socket and no clock: `ProxyLink` has them.
///
/// Memory: `mostClients` queues of 224 kB, and 300 bytes for each of `mostHandshakes` connections of strangers. A packet takes time
/// proportional to its length, its batch once for each client.
package struct ProxyServer: Sendable {
    /// Clients that know the key.
    package static let mostClients = 4
    /// Connections of strangers whose handshake has not ended. One more ends the oldest of its address, or else the oldest.
    package static let mostHandshakes = 64
    /// The most bytes that one turn gives to a client that is not blocked.
    package static let mostUnwritten = 24 << 10

    private let settings: ProxySettings
    private let key: ProxyKey
    private let primitives: any NoisePrimitives
    /// Our hello: the protocol, the name, and twelve digits of the address.
    private let greeting: [UInt8]
    private var sessions: [ProxySession] = []
    private var homes = ProxyHomes()
    private var notes = ProxyNotes()
    private var batch = PacketBatch()
    private var window = BatchWindow()
    private var scan = ProxyScan(state: .idle)
    private var counters = ProxyStatus.Counters()
    /// Seconds since 1970, and when that was.
    private var epoch: (seconds: UInt32, at: MonotonicInstant)?
    /// What the last effects of these kinds said.
    private var (listens, scansActively) = (false, false)

    package init(_ settings: ProxySettings, key: ProxyKey, primitives: any NoisePrimitives) {
        (self.settings, self.key, self.primitives) = (settings, key, primitives)
        let digits = hexadecimal(settings.macAddress.value, digits: 12)
        greeting = FrameReader.frame([1] + settings.name.utf8 + [0] + digits.utf8 + [0])
    }

    /// When `tick` is due; nil: no time matters.
    package var nextDeadline: MonotonicInstant? {
        var next = batch.deadline ?? homes.nextDeadline
        if let dial = homes.nextDeadline, let other = next { next = min(dial, other) }
        for session in sessions {
            // What one turn could not take goes on in the next.
            let deadline = session.hasOutput ? MonotonicInstant.zero : session.deadline
            next = min(next ?? deadline, deadline)
        }
        return next
    }

    package var status: ProxyStatus {
        let clients = sessions.filter(\.isReady)
        return ProxyStatus(
            clients: clients.map {
                ProxyStatus.Client(
                    address: $0.peer.address, name: $0.name, isDialled: $0.isDialled, isSubscribed: $0.isSubscribed,
                    since: $0.since, sent: $0.sent, dropped: $0.dropped, queued: $0.queued, refusal: $0.peer.refusal)
            },
            homes: homes.addresses.map { ProxyStatus.Home(address: $0, isConnected: isConnected($0)) },
            counters: counters)
    }

    /// Handles one input.
    ///
    /// - Returns: What is to be done, in this order.
    package mutating func handle(_ input: Input, at now: MonotonicInstant) -> [Effect] {
        var effects: [Effect] = []
        switch input {
        case .heard(let report, let data):
            guard listens else { return [] }
            batch.add(report, data, at: now)
            guard batch.isFull || batch.deadline.map({ $0 <= now }) == true else { return [] }
        case .accepted(let id, let peer, let secret): effects = open(id, peer, isDialled: false, secret, at: now)
        case .dialled(let id, let peer, let secret): effects = dialled(id, peer, secret, at: now)
        case .notDialled(let address): if !isConnected(address) { homes.away(address, at: now) }
        case .received(let id, let bytes): effects = receive(bytes, from: id, at: now)
        case .blocked(let id): change(id) { $0.isBlocked = true }
        case .drained(let id): change(id) { $0.isBlocked = false }
        case .closed(let id): effects = closed(id, at: now)
        case .scan(let scan): announce(scan, at: now)
        case .homes(let addresses): if settings.dials { homes.restore(addresses, at: now) }
        case .homeAssistantStarted: homes.started(at: now, isConnected: isConnected)
        case .time(let seconds): epoch = seconds.map { ($0, now) }
        case .tick: effects = expire(at: now)
        case .stop: effects = stop(at: now)
        }
        return effects + finish(at: now)
    }

    // MARK: Connections

    private func isConnected(_ address: String) -> Bool {
        sessions.contains { $0.isReady && $0.peer.address == address }
    }

    private mutating func change(_ id: ProxyClientID, _ change: (inout ProxySession) -> Void) {
        guard let index = sessions.firstIndex(where: { $0.id == id }) else { return }
        change(&sessions[index])
    }

    private mutating func open(
        _ id: ProxyClientID, _ peer: ProxyPeer, isDialled: Bool, _ secret: [UInt8], at now: MonotonicInstant
    ) -> [Effect] {
        var effects: [Effect] = []
        let strangers = sessions.filter { !$0.isReady && !$0.isDialled }
        if !isDialled, strangers.count >= Self.mostHandshakes,
            let oldest = strangers.first(where: { $0.peer.address == peer.address }) ?? strangers.first
        {
            effects = fail(oldest.id, .tooManyHandshakes, at: now)
        }
        sessions.append(
            ProxySession(id, peer, isDialled: isDialled, secret: secret, greeting: greeting, at: now))
        return effects
    }

    private mutating func dialled(
        _ id: ProxyClientID, _ peer: ProxyPeer, _ secret: [UInt8], at now: MonotonicInstant
    ) -> [Effect] {
        guard homes.addresses.contains(peer.address), peer.refusal == nil else {
            // It may no longer have packets: an interface of this machine has its address now.
            return [.close(id)] + (homes.forget(peer.address) ? [.adopted(homes.addresses)] : [])
        }
        guard !isConnected(peer.address) else {
            homes.connected(peer.address)
            return [.close(id)]
        }
        return open(id, peer, isDialled: true, secret, at: now)
    }

    /// Ends a session before its handshake has ended.
    private mutating func fail(
        _ id: ProxyClientID, _ failure: ProxyFailure, at now: MonotonicInstant
    ) -> [Effect] {
        guard let session = sessions.first(where: { $0.id == id }) else { return [] }
        counters.failed += 1
        change(id) { $0.sayFarewell(failure) }
        let note = notes.failure(failure, address: session.peer.address, at: now)
        return end(id, .broken, at: now) + note
    }

    /// Ends a session; what it still has to say is sent before.
    private mutating func end(
        _ id: ProxyClientID, _ reason: ProxyNote.Reason, at now: MonotonicInstant
    ) -> [Effect] {
        guard let index = sessions.firstIndex(where: { $0.id == id }) else { return [] }
        var effects = flush(index)
        let session = sessions.remove(at: index)
        effects.append(.close(id))
        if !isConnected(session.peer.address), session.isReady || session.isDialled {
            homes.away(session.peer.address, at: now)
        }
        guard session.isSubscribed else { return effects }
        return effects
            + notes.client(.left(address: session.peer.address, name: session.name, reason), at: now)
    }

    /// The other side has ended a session, so that nothing can be sent and nothing is to be closed.
    private mutating func closed(_ id: ProxyClientID, at now: MonotonicInstant) -> [Effect] {
        if sessions.contains(where: { $0.id == id && !$0.isReady && !$0.isDialled }) { counters.failed += 1 }
        return end(id, .departed, at: now).filter { !$0.concerns(id) }
    }

    private mutating func stop(at now: MonotonicInstant) -> [Effect] {
        homes = ProxyHomes()
        for index in sessions.indices where sessions[index].isReady { sessions[index].answer(.disconnect, at: now) }
        return sessions.map(\.id).flatMap { end($0, .departed, at: now) }.filter { !$0.isNote }
    }

    // MARK: Requests

    private mutating func receive(_ bytes: [UInt8], from id: ProxyClientID, at now: MonotonicInstant) -> [Effect] {
        guard let index = sessions.firstIndex(where: { $0.id == id }) else { return [] }
        let mayJoin = sessions.count(where: \.isReady) < Self.mostClients
        let wasReady = sessions[index].isReady
        do throws(ProxySession.End) {
            let requests = try sessions[index].receive(
                bytes, key: key, greeting: greeting, mayJoin: mayJoin, by: primitives, at: now)
            if !wasReady, sessions[index].isReady { homes.connected(sessions[index].peer.address) }
            return requests.flatMap { carryOut($0, of: id, at: now) }
        } catch {
            switch error {
            case .failed(let failure): return fail(id, failure, at: now)
            case .broken: return end(id, .broken, at: now)
            }
        }
    }

    private mutating func carryOut(
        _ request: ProxyRequest, of id: ProxyClientID, at now: MonotonicInstant
    ) -> [Effect] {
        // An earlier request of the same bytes may have ended it.
        guard let index = sessions.firstIndex(where: { $0.id == id }) else { return [] }
        switch request {
        case .hello(let name, let isDialTarget):
            sessions[index].name = name
            sessions[index].answer(.hello(settings), at: now)
            return isDialTarget ? adopt(sessions[index].peer) : []
        case .disconnect:
            sessions[index].answer(.disconnected, at: now)
            return end(id, .departed, at: now)
        case .disconnected: return end(id, .departed, at: now)
        case .entities:
            sessions[index].answer(.entitiesDone, at: now)
            // Whoever asks this is no `doctor`, which looks only, and would ask for packets if it were offered them.
            return refuse(index, at: now)
        case .subscribe(let isRaw): return subscribe(index, isRaw: isRaw, at: now)
        case .unsubscribe: sessions[index].unsubscribe()
        case .setMode(let mode):
            sessions[index].wantsActiveScan =
                mode == .active && scan.configuredMode == .active && sessions[index].isSubscribed
            sessions[index].answer(state, at: now)
        case .ping, .deviceInfo, .time, .capabilities, .device, .attribute, .connectionParameters, .freeConnections,
            .other:
            if let answer = answer(to: request, of: sessions[index].peer, at: now) {
                sessions[index].answer(answer, at: now)
            }
        }
        return []
    }

    /// The answer to a request that changes nothing; nil: it has none.
    private func answer(to request: ProxyRequest, of peer: ProxyPeer, at now: MonotonicInstant) -> ProxyMessage? {
        switch request {
        case .ping: .pong
        case .deviceInfo: .deviceInfo(settings, isOffered: peer.refusal == nil)
        case .capabilities: .capabilities(settings, isOffered: peer.refusal == nil)
        case .time:
            epoch.map { .time($0.seconds &+ UInt32(truncatingIfNeeded: $0.at.duration(to: now).components.seconds)) }
        case .device(let address, let request): .refused(request, address: address)
        case .attribute(let address, let handle): .refusedAttribute(address: address, handle: handle)
        case .connectionParameters(let address): .refusedParameters(address: address)
        case .freeConnections: .freeConnections
        // Those that change something have their answers in `handle`; what nobody knows has none.
        case .hello, .disconnect, .disconnected, .entities, .subscribe, .unsubscribe, .setMode, .other: nil
        }
    }

    private mutating func adopt(_ peer: ProxyPeer) -> [Effect] {
        guard settings.dials, peer.refusal == nil, homes.adopt(peer.address, isConnected: isConnected) else {
            return []
        }
        return [.adopted(homes.addresses)]
    }

    /// - Returns: A note, the first time that packets are refused to this client.
    private mutating func refuse(_ index: Int, at now: MonotonicInstant) -> [Effect] {
        let peer = sessions[index].peer
        guard let refusal = peer.refusal, !sessions[index].isRefused else { return [] }
        sessions[index].isRefused = true
        counters.refused += 1
        return notes.refusal(refusal, address: peer.address, at: now)
    }

    private mutating func subscribe(_ index: Int, isRaw: Bool, at now: MonotonicInstant) -> [Effect] {
        guard sessions[index].peer.refusal == nil else { return refuse(index, at: now) }
        // Without this answer a client takes its subscription for refused, and repeats it.
        sessions[index].answer(state, at: now)
        // Other than raw packets are not offered.
        guard isRaw, !sessions[index].isSubscribed else { return [] }
        sessions[index].isSubscribed = true
        let session = sessions[index]
        return notes.client(.subscribed(address: session.peer.address, name: session.name), at: now)
    }

    // MARK: The radio

    private var state: ProxyMessage { .scan(scan) }

    private mutating func announce(_ scan: ProxyScan, at now: MonotonicInstant) {
        guard scan != self.scan else { return }
        self.scan = scan
        // What is no longer offered is not wanted either, should it be offered again.
        if scan.configuredMode == .passive { for index in sessions.indices { sessions[index].wantsActiveScan = false } }
        for index in sessions.indices where sessions[index].isSubscribed { sessions[index].answer(state, at: now) }
    }

    // MARK: Time and output

    private mutating func expire(at now: MonotonicInstant) -> [Effect] {
        for index in sessions.indices { sessions[index].ping(at: now) }
        let dead = sessions.filter { $0.isDead(at: now) }
        return dead.flatMap { session in
            session.isReady ? end(session.id, .silent, at: now) : fail(session.id, .tooSlow, at: now)
        }
    }

    /// What follows from any input.
    private mutating func finish(at now: MonotonicInstant) -> [Effect] {
        if let deadline = batch.deadline, batch.isFull || deadline <= now {
            window.sent(late: deadline.duration(to: now))
            for index in sessions.indices where sessions[index].isSubscribed { sessions[index].add(batch) }
            batch = PacketBatch(window: window.length)
        }
        for index in sessions.indices { counters.dropped += UInt64(sessions[index].dropOld(at: now)) }
        var effects = sessions.indices.flatMap { flush($0) }
        effects += sessions.filter(\.isOverfull).flatMap { end($0.id, .broken, at: now) }
        effects += changes()
        return effects + homes.due(at: now).map { Effect.dial(address: $0) }
    }

    private mutating func flush(_ index: Int) -> [Effect] {
        let output = sessions[index].output(by: primitives)
        counters.sent += UInt64(output.packets)
        return output.bytes.isEmpty ? [] : [.send(sessions[index].id, output.bytes)]
    }

    /// What the radio has to do now, where that has changed.
    private mutating func changes() -> [Effect] {
        var effects: [Effect] = []
        let listens = sessions.contains(where: \.isSubscribed)
        if listens != self.listens { effects.append(.listen(listens)) }
        if !listens { batch = PacketBatch() }
        let scansActively = sessions.contains(where: \.wantsActiveScan)
        if scansActively != self.scansActively { effects.append(.scanActively(scansActively)) }
        (self.listens, self.scansActively) = (listens, scansActively)
        return effects
    }
}
