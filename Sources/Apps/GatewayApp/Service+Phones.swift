import Base
import Beacon
import Configuration
import Gateway
import Identities
import JSON
import Messaging
import OwnTracks
import Runtime
import Shell
import Status
import Storage
import System

/// The keys of phones: their file, which commands change too, and the lists of the other gateways of the site.
extension Service {
    /// How often the file is looked at.
    private static let phonePeriod: Duration = .seconds(5)

    /// Reads the keys, and begins to look at their file.
    func startPhones() {
        do throws(Failure) { phones.adopt(provided: try PhoneKeyFile.provided()) } catch {
            log.error("the keys of phones were not read: \(error.message)")
        }
        readPhones()
        takeConfiguredKeys()
        publishPhones()
        let timer = host.timer(tolerance: .seconds(1)) { [unowned self] _ in
            checkPhones()
            phones.timer?.arm(after: Self.phonePeriod)
        }
        phones.timer = timer
        timer.arm(after: Self.phonePeriod)
    }

    /// Takes the site of the configuration, before a connection is opened.
    func preparePhones() {
        let site = PhoneSite(configuration)
        guard site != phones.site else { return }
        phones.site = site
        phones.forgetLists()
    }

    /// The configuration has changed: the site may be another one, and there may be other keys in it.
    func refreshPhones() {
        preparePhones()
        readPhones()
        takeConfiguredKeys()
        publishPhones()
    }

    /// Reads the file. If that fails, the keys that were read before stay in force.
    private func readPhones() {
        let stamp = PhoneKeyFile.stamp(in: app.settings.stateDirectory)
        do throws(Failure) {
            let keys = try PhoneKeyFile.read(in: app.settings.stateDirectory)
            let isNews = keys != phones.keys
            phones.adopt(keys, stamp: stamp)
            setKeys()
            if isNews { app.changed() }
        } catch {
            phones.stamp = stamp
            log.error("the keys of phones were not read: \(error.message)")
            setKeys()
        }
    }

    private func setKeys() {
        links.radio.setKeys(phones.phones.map(\.key))
        app.handle(.phones(phoneUUIDs), at: host.now)
        namePhones()
        publishTagPhones()
    }

    /// Of a key whose order is not known there are two.
    var phoneUUIDs: Set<BeaconUUID> { Set(phones.phones.flatMap { [$0.key.uuid, $0.key.otherUUID] }) }

    /// Regions or tags have changed, or keys: a region may have either UUID of a key whose order was not known.
    func namePhones() {
        links.radio.setNamed { uuid in
            namedTags.contains(uuid) || app.core.regionName(of: BeaconID(uuid: uuid, major: 0, minor: 0)) != nil
        }
    }

    /// The file may have been changed by a command, and something may wait to be stored or published.
    func checkPhones() {
        if !phones.isStoring, PhoneKeyFile.stamp(in: app.settings.stateDirectory) != phones.stamp {
            readPhones()
            if phones.isRead {
                log.notice("the keys of phones have changed: \(phones.phones.count) phones")
                publishPhones()
            }
        }
        if phones.stored.duration(to: host.now) >= Self.heardPeriod { storeHeardPhones() }
        storePhones()
        if phones.isDue { publishPhones() }
    }

    /// Stores what is new: keys of commands, lists of other gateways, and orders of keys that the radio has learned. If another
    /// program changes the file now, or it cannot be written, all of it waits for the next check; if a change is being stored,
    /// for the end of that.
    private func storePhones() {
        guard !phones.isStoring else { return }
        let clock = app.core.wallClock
        let unstamped = phones.site != nil && clock.isKnown && phones.keys.phones.contains { $0.changed == 0 }
        let learned = links.radio.phones.map(\.phone).filter { phone in
            phone.isOrdered
                && phones.keys.phones.contains { $0.key.key.unordered == phone.key.unordered && !$0.key.isOrdered }
        }
        guard unstamped || !learned.isEmpty || phones.hasWaiting else { return }
        let change = PhoneKeyChange(
            known: phones.keys, waiting: phones.waiting, pending: phones.pending, learned: learned, stamps: unstamped,
            time: clock.isKnown ? clock.epochSeconds(at: host.now) : nil)
        phones.begin(change)
        links.phoneKeys.store(change, in: app.settings.stateDirectory) { [unowned self] in stored($0) }
    }

    private func stored(_ outcome: PhoneKeyOutcome) {
        let isNews: Bool
        switch outcome {
        case .busy: return phones.giveBack()
        case .failed(let failure):
            phones.giveBack()
            return log.once("phones", .error, "the keys of phones were not stored: \(failure.message)")
        case .stored(let keys, let stamp, let wasChanged, let problems):
            isNews = keys != phones.keys
            // If another program changed the file since the last check, the next one will not see that.
            phones.adoptStored(keys, stamp: stamp, wasChanged: wasChanged)
            for problem in problems { log.warning(problem) }
        }
        if isNews {
            setKeys()
            app.changed()
            publishPhones()
        }
        if phones.hasWaiting { storePhones() }
    }

    // MARK: - What was heard

    /// The key of the store under which it has the time of the last packet of each phone.
    static let heardPhonesKey = "phones heard"
    /// How often these times are stored.
    private static let heardPeriod: Duration = .seconds(3600)

    func restorePhones(_ stored: [UInt8]?) {
        let json = stored.flatMap { try? JSONValue(parsing: $0) }
        phones.heard = (json?.object ?? [:]).compactMapValues(\.asInteger)
        phones.stored = host.now
    }

    /// Stores when each phone was heard last.
    func storeHeardPhones() {
        phones.stored = host.now
        let clock = app.core.wallClock
        guard clock.isKnown, !phones.phones.isEmpty else { return }
        var heard = phones.heard
        for hearing in links.radio.phones {
            guard let last = hearing.lastHeard else { continue }
            heard["\(hearing.phone.uuid)"] = clock.epochSeconds(at: last)
        }
        let names = Set(phones.phones.flatMap { ["\($0.key.uuid)", "\($0.key.otherUUID)"] })
        heard = heard.filter { names.contains($0.key) }
        guard heard != phones.heard else { return }
        phones.heard = heard
        let json = JSONValue.object(heard.mapValues { .integer($0) })
        app.links.store.submit(.commit([.value(key: Self.heardPhonesKey, json.bytes)]))
    }

    func phoneStates(at now: MonotonicInstant) -> [StatusSnapshot.PhoneStatus] {
        let live = Dictionary(links.radio.phones.map { ($0.phone.key.unordered, $0) }) { first, _ in first }
        let clock = app.core.wallClock
        return phones.phones.map { phone in
            let stored =
                clock.isKnown ? [phone.key.uuid, phone.key.otherUUID].compactMap { phones.heard["\($0)"] } : []
            let earlier = stored.max().map { seconds in
                now.advanced(by: .seconds(min(0, seconds - clock.epochSeconds(at: now))))
            }
            return StatusSnapshot.PhoneStatus(
                name: phone.name, uuid: "\(phone.key.uuid)", isOrdered: phone.key.isOrdered,
                lastHeard: live[phone.key.key.unordered]?.lastHeard ?? earlier,
                gateways: phones.site == nil ? nil : phones.gateways(having: phone))
        }
    }

    // MARK: - Keys in descriptions

    /// Stores the keys of a command.
    func take(_ keys: [NamedKey]) {
        for named in keys where !phones.phones.has(PhoneKey(named.key)) && !phones.add(waiting: named) {
            log.warning("the key of '\(named.name)' was not stored: \(PhoneKeysError.tooMany)")
        }
        storePhones()
    }

    /// Stores the keys of the configuration. A phone that was given another key since stays so, and in a site one that was
    /// removed: there the removal may be another gateway's.
    private func takeConfiguredKeys() {
        let keys = configuration.trackers.flatMap(\.waypoints.keys)
        guard !keys.isEmpty else { return }
        let removals = phones.site == nil ? [] : phones.keys.removals
        for named in keys where removals.contains(where: { $0.name.hasSameBytes(as: named.name) }) {
            log.warning("the configuration has a key of '\(named.name)', which was removed; remove it there, too")
        }
        take(
            keys.filter { named in
                !phones.keys.phones.contains { $0.name.hasSameBytes(as: named.name) }
                    && !removals.contains { $0.name.hasSameBytes(as: named.name) }
            })
    }

    // MARK: - The site

    /// The subscription to the lists of the gateways.
    var phoneFilter: String? { phones.site?.filter }

    /// Publishes the list of this gateway.
    func publishPhones() {
        guard let site = phones.site, phones.isRead, links.availability.isConnected,
            !phones.keys.isEmpty || phones.hasPublished, let payload = site.payload(of: phones.keys)
        else { return }
        let publication = Publication(.state, topic: site.topic, payload: payload, isRetained: true)
        let isQueued = links.availability.publish(publication, as: MessageToken(rawValue: 0))
        phones.published = host.now
        if isQueued { phones.hasPublished = true } else { log.once("phones", .warning, "the broker's queue is full") }
        phones.isDue = !isQueued
    }

    /// Publishes the list because the broker has another one. Any client of the broker may cause this, as often as it likes: after one
    /// at once, the next check publishes, not each message.
    private func republishPhones() {
        phones.isDue = true
        // What was just learned comes with it.
        guard !phones.isStoring, !phones.hasWaiting else { return }
        guard phones.published.map({ $0.duration(to: host.now) >= Self.phonePeriod }) ?? true else { return }
        publishPhones()
    }

    /// Handles a message on the availability's connection.
    ///
    /// - Returns: false if the message is no list of phones.
    func phonesReceived(_ message: ReceivedMessage) -> Bool {
        guard let site = phones.site, let gateway = site.gateway(of: message.topic) else { return false }
        let isOwn = gateway.hasSameBytes(as: site.gateway)
        guard !message.payload.isEmpty else {
            phones.setList(nil, of: gateway)
            if isOwn { phones.isDue = true }
            return true
        }
        do {
            var keys = try site.keys(in: message.payload, of: gateway)
            let clock = app.core.wallClock
            if clock.isKnown { keys.distrustFuture(at: clock.epochSeconds(at: host.now)) }
            // The own list of an earlier run has what a lost state lacks.
            phones.setList(keys, of: gateway)
            storePhones()
            guard isOwn else {
                // Its gateway may have been off, or another client repeats what it once said.
                if phones.isRead, phones.answers(keys, of: gateway) { phones.isDue = true }
                return true
            }
            phones.setList(nil, of: gateway)
            if phones.isRead, keys.sorted != phones.keys.sorted { takeTopicBack() }
        } catch {
            log.once("phones", .warning, "the list of phones on \(message.topic) is ignored: \(error)")
            if isOwn { takeTopicBack() }
        }
        return true
    }

    /// Something else than the own list stands on its topic. Whoever reads it would keep phones that were removed, and learn no new ones.
    private func takeTopicBack() {
        phones.hasPublished = true
        republishPhones()
    }
}
