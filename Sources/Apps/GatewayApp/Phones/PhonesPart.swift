import Base
import Beacon
import Configuration
import Gateway
import Identities
import Messaging
import OwnTracks
import Runtime
import Shell
import Status
import Storage
import System

/// The keys of phones: their file, which commands and the configuration change too, and the lists of the gateways of the site,
/// which are this part of the second connection.
final class PhonesPart: SidePart {
    /// How often the file is looked at.
    private static let period: Duration = .seconds(5)

    let name = SidePartName.phones
    private unowned let app: App<Gateway>
    private unowned let side: SideConnection
    private let radio: any RadioLink
    private let link: any PhoneKeyLink
    private var book = PhoneBook()
    private var times: PhoneTimes
    private var list = OwnPhoneList()
    /// Checks the file. It exists between start and stop.
    private var timer: (any ServiceTimer)?

    init(_ app: App<Gateway>, _ side: SideConnection, _ radio: any RadioLink, _ link: any PhoneKeyLink) {
        (self.app, self.side, self.radio, self.link) = (app, side, radio, link)
        times = PhoneTimes(at: app.host.now)
    }

    private var directory: String { app.settings.stateDirectory }
    private var clock: WallClock { app.core.wallClock }
    private var now: MonotonicInstant { app.host.now }

    // MARK: - Start, settings and stop

    /// - Parameter stored: The value of `PhoneTimes.storeKey`.
    func restore(_ stored: [UInt8]?) { times = PhoneTimes(stored, at: now) }

    /// Reads the keys, and begins to look at their file.
    func start() {
        do throws(Failure) { book.adopt(provided: try PhoneKeyFile.provided()) } catch {
            app.log.error("the keys of phones were not read: \(error.message)")
        }
        readAll()
        let timer = app.host.timer(tolerance: .seconds(1)) { [unowned self] _ in tick() }
        self.timer = timer
        timer.arm(after: Self.period)
    }

    /// Takes the site of the configuration.
    func prepare() {
        if list.adopt(PhoneSite(app.settings.configuration)) { book.forgetLists() }
    }

    /// The configuration has changed: the site may be another one, and there may be other keys in it.
    func refresh() {
        prepare()
        readAll()
    }

    private func readAll() {
        read()
        takeConfiguredKeys()
        publish()
    }

    func stop() {
        storeTimes()
        timer = nil
        if !link.finish(within: .seconds(4)) {
            app.log.error("the disk is too slow; keys of phones that were not stored yet may be lost")
        }
    }

    // MARK: - The keys

    /// Of a key whose order is not known there are two.
    var uuids: Set<BeaconUUID> { Set(book.phones.flatMap { [$0.key.uuid, $0.key.otherUUID] }) }

    /// Reads the file. If that fails, the keys that were read before stay in force.
    private func read() {
        let stamp = PhoneKeyFile.stamp(in: directory)
        do throws(Failure) {
            let keys = try PhoneKeyFile.read(in: directory)
            let isNews = keys != book.keys
            book.adopt(keys, stamp: stamp)
            putInForce()
            if isNews { app.changed() }
        } catch {
            book.failedToRead(stamp)
            app.log.error("the keys of phones were not read: \(error.message)")
            putInForce()
        }
    }

    private func putInForce() {
        radio.setKeys(book.phones.map(\.key))
        app.handle(.phones(uuids), at: now)
        side.owner?.phonesChanged()
    }

    /// The file may have been changed by a command, and something may wait to be stored or published.
    private func tick() {
        if !book.isStoring, PhoneKeyFile.stamp(in: directory) != book.stamp {
            read()
            if book.isRead {
                app.log.notice("the keys of phones have changed: \(book.phones.count) phones")
                publish()
            }
        }
        if times.areDue(at: now) { storeTimes() }
        store()
        if list.isDue { publish() }
        timer?.arm(after: Self.period)
    }

    /// Stores what is new: keys of commands, lists of other gateways, and orders of keys that the radio has learned. If another
    /// program changes the file now, or it cannot be written, all of it waits for the next check; if a change is being stored,
    /// for the end of that.
    private func store() {
        let time = clock.isKnown ? clock.epochSeconds(at: now) : nil
        guard let change = book.begin(learned: radio.phones.map(\.phone), isShared: list.site != nil, at: time) else {
            return
        }
        link.store(change, in: directory) { [unowned self] in stored($0) }
    }

    private func stored(_ outcome: PhoneKeyOutcome) {
        let isNews: Bool
        switch outcome {
        case .busy: return book.giveBack()
        case .failed(let failure):
            book.giveBack()
            return app.log.once("phones", .error, "the keys of phones were not stored: \(failure.message)")
        case .stored(let keys, let stamp, let wasChanged, let problems):
            isNews = keys != book.keys
            // If another program changed the file since the last check, the next one will not see that.
            book.adoptStored(keys, stamp: stamp, wasChanged: wasChanged)
            for problem in problems { app.log.warning(problem) }
        }
        if isNews {
            putInForce()
            app.changed()
            publish()
        }
        if book.hasWaiting { store() }
    }

    // MARK: - Keys in descriptions

    /// Stores the keys of a command.
    func take(_ keys: [NamedKey]) {
        for named in keys where !book.phones.has(PhoneKey(named.key)) && !book.add(waiting: named) {
            app.log.warning("the key of '\(named.name)' was not stored: \(PhoneKeysError.tooMany)")
        }
        store()
    }

    /// Stores the keys of the configuration. A phone that was given another key since stays so, and in a site one that was
    /// removed: there the removal may be another gateway's.
    private func takeConfiguredKeys() {
        let keys = app.settings.configuration.trackers.flatMap(\.waypoints.keys)
        guard !keys.isEmpty else { return }
        let removals = list.site == nil ? [] : book.keys.removals
        for named in keys where removals.contains(where: { $0.name.hasSameBytes(as: named.name) }) {
            app.log.warning("the configuration has a key of '\(named.name)', which was removed; remove it there, too")
        }
        take(
            keys.filter { named in
                !book.keys.phones.contains { $0.name.hasSameBytes(as: named.name) }
                    && !removals.contains { $0.name.hasSameBytes(as: named.name) }
            })
    }

    // MARK: - What was heard

    /// Stores when each phone was heard last.
    private func storeTimes() {
        guard let bytes = times.update(radio.phones, of: book.phones, clock: clock, at: now) else { return }
        app.links.store.submit(.commit([.value(key: PhoneTimes.storeKey, bytes)]))
    }

    func states(at now: MonotonicInstant) -> [StatusSnapshot.PhoneStatus] {
        let live = Dictionary(radio.phones.map { ($0.phone.key.unordered, $0) }) { first, _ in first }
        return book.phones.map { phone in
            StatusSnapshot.PhoneStatus(
                name: phone.name, uuid: "\(phone.key.uuid)", isOrdered: phone.key.isOrdered,
                lastHeard: live[phone.key.key.unordered]?.lastHeard
                    ?? times.lastHeard(phone.key, clock: clock, at: now),
                gateways: list.site.map { book.gateways(having: phone, besides: $0.gateway) })
        }
    }

    // MARK: - The connection

    /// The subscription to the lists of the gateways; nil: keys are not shared.
    /// nil: keys are not shared.
    var site: PhoneSite? { list.site }
    private var filter: String? { site?.filter }

    var filters: Set<String> { filter.map { [$0] } ?? [] }

    func connected(at now: MonotonicInstant) { publish() }

    /// Publishes the list of this gateway.
    private func publish() {
        guard book.isRead, side.isConnected, let publication = list.publication(of: book.keys) else { return }
        let isQueued = side.publish(publication)
        list.published(isQueued: isQueued, at: now)
        if !isQueued { app.log.once("phones", .warning, "the broker's queue is full") }
    }

    /// Something else than the own list stands on its topic.
    private func takeTopicBack() {
        guard list.takeBack(within: Self.period, at: now), !book.isStoring, !book.hasWaiting else { return }
        publish()
    }

    func received(_ message: ReceivedMessage, at now: MonotonicInstant) -> Bool {
        guard let site = list.site, let gateway = site.gateway(of: message.topic) else { return false }
        let isOwn = gateway.hasSameBytes(as: site.gateway)
        guard !message.payload.isEmpty else {
            book.setList(nil, of: gateway)
            if isOwn { list.demand() }
            return true
        }
        do {
            var keys = try site.keys(in: message.payload, of: gateway)
            if clock.isKnown { keys.distrustFuture(at: clock.epochSeconds(at: now)) }
            // The own list of an earlier run has what a lost state lacks.
            book.setList(keys, of: gateway)
            store()
            guard isOwn else {
                // Its gateway may have been off, or another client repeats what it once said.
                if book.isRead, book.answers(keys, of: gateway) { list.demand() }
                return true
            }
            book.setList(nil, of: gateway)
            if book.isRead, keys.sorted != book.keys.sorted { takeTopicBack() }
        } catch {
            app.log.once("phones", .warning, "the list of phones on \(message.topic) is ignored: \(error)")
            if isOwn { takeTopicBack() }
        }
        return true
    }
}
