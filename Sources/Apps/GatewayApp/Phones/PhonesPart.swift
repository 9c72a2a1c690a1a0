import Base
import Beacon
import Gateway
import Identities
import Messaging
import Runtime
import Shell
import Status
import System

/// The keys of phones outside the core: their file, and the lists of the site's gateways, which are this part of the second
/// connection. What is stored and published is decided by the core (`Phones`); this part carries it out, and says what became of it.
final class PhonesPart: SidePart {
    let name = SidePartName.phones
    private unowned let app: App<Gateway>
    private unowned let side: SideConnection
    private let radio: any RadioLink
    private let link: any PhoneKeyLink
    /// nil: keys are not shared.
    private(set) var site: PhoneSite?
    /// The state of the file that was read or written last; nil: there was no file.
    private var stamp: FileStamp?
    /// Checks the file. It exists between start and stop.
    private var timer: (any ServiceTimer)?

    init(_ app: App<Gateway>, _ side: SideConnection, _ radio: any RadioLink, _ link: any PhoneKeyLink) {
        (self.app, self.side, self.radio, self.link) = (app, side, radio, link)
    }

    private var directory: String { app.settings.stateDirectory }

    private func tell(_ event: PhoneKeyEvent) { app.handle(.phoneKeys(event), at: app.host.now) }

    // MARK: - Start, settings and stop

    /// Reads the keys, and begins to look at their file.
    func start() {
        do throws(Failure) { tell(.provided(try PhoneKeyFile.provided())) } catch { logUnread(error) }
        read(isChange: false)
        tell(.configured)
        let timer = app.host.timer(tolerance: .seconds(1)) { [unowned self] _ in tick() }
        self.timer = timer
        timer.arm(after: Phones.period)
    }

    /// Takes the site of the configuration.
    func prepare() {
        let new = PhoneSite(app.settings.configuration)
        guard new != site else { return }
        site = new
        tell(.site(gateway: new?.gateway))
    }

    /// The configuration has changed: the site may be another one, and there may be other keys in it.
    func refresh() {
        prepare()
        read(isChange: false)
        tell(.configured)
    }

    func stop() {
        tell(.stopping(heard: radio.phones))
        timer = nil
        if !link.finish(within: .seconds(4)) {
            app.log.error("the disk is too slow; keys of phones that were not stored yet may be lost")
        }
    }

    // MARK: - The file

    /// Reads the file. If that fails, the keys that were read before stay in force.
    private func read(isChange: Bool) {
        stamp = PhoneKeyFile.stamp(in: directory)
        do throws(Failure) { tell(.read(try PhoneKeyFile.read(in: directory), isChange: isChange)) } catch {
            logUnread(error)
            tell(.unreadable)
        }
    }

    private func logUnread(_ failure: Failure) {
        app.log.error("the keys of phones were not read: \(failure.message)")
    }

    /// The file may have been changed by a command, and something may wait to be stored or published.
    private func tick() {
        if !app.core.phones.isStoring, PhoneKeyFile.stamp(in: directory) != stamp { read(isChange: true) }
        tell(.check(heard: radio.phones))
        timer?.arm(after: Phones.period)
    }

    func store(_ change: PhoneKeyChange) {
        link.store(change, in: directory) { [unowned self] in stored($0) }
    }

    private func stored(_ outcome: PhoneKeyOutcome) {
        switch outcome {
        case .busy: tell(.notStored)
        case .failed(let failure):
            app.log.once("phones", .error, "the keys of phones were not stored: \(failure.message)")
            tell(.notStored)
        case .stored(let keys, let stamp, let wasChanged, let problems):
            // If another program changed the file since the last check, the next one will not see that.
            self.stamp = stamp
            tell(.stored(keys, wasChanged: wasChanged, problems: problems))
        }
    }

    /// The keys in force may be other ones. `areOthers`: they are.
    func putInForce(areOthers: Bool) {
        radio.setKeys(app.core.phones.inForce.map(\.key))
        side.owner?.phonesChanged()
        if areOthers { app.changed() }
    }

    func states(at now: MonotonicInstant) -> [StatusSnapshot.PhoneStatus] {
        let phones = app.core.phones
        let live = Dictionary(radio.phones.map { ($0.phone.key.unordered, $0) }) { first, _ in first }
        return phones.inForce.map { phone in
            StatusSnapshot.PhoneStatus(
                name: phone.name, uuid: "\(phone.key.uuid)", isOrdered: phone.key.isOrdered,
                lastHeard: live[phone.key.key.unordered]?.lastHeard
                    ?? phones.lastHeard(phone.key, clock: app.core.wallClock, at: now),
                gateways: phones.gateways(having: phone))
        }
    }

    // MARK: - The connection

    /// The subscription to the lists of the gateways; none if keys are not shared.
    var filters: Set<String> { site.map { [$0.filter] } ?? [] }

    func connected(at now: MonotonicInstant) { tell(.connected) }

    /// Publishes the list of this gateway. Without a connection the next one asks for it.
    func publish(_ keys: PhoneKeys) {
        guard side.isConnected, let site, let payload = site.payload(of: keys) else { return }
        let isQueued = side.publish(Publication(.state, topic: site.topic, payload: payload, isRetained: true))
        if !isQueued { app.log.once("phones", .warning, "the broker's queue is full") }
        tell(.published(isQueued: isQueued))
    }

    func received(_ message: ReceivedMessage, at now: MonotonicInstant) -> Bool {
        guard let site, let gateway = site.gateway(of: message.topic) else { return false }
        do {
            let keys = message.payload.isEmpty ? nil : try site.keys(in: message.payload, of: gateway)
            tell(.list(keys, of: gateway))
        } catch {
            app.log.once("phones", .warning, "the list of phones on \(message.topic) is ignored: \(error)")
            tell(.unusableList(of: gateway))
        }
        return true
    }
}
