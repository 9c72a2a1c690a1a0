import Base
import Beacon
import Configuration
import Health
import JSON
import PageServer
import Regions
import RoomMessages
import Rooms
import Shell
import SiteProtocol
import Storage
import System

/// The state of the service for the page, and the requests of the page.
extension RoomService: SitePageOwner {
    /// Opens the page if it is configured.
    ///
    /// - Throws: `Failure` if the page would be open to others without protection, or can never work.
    func openPage() throws(Failure) {
        guard let address = settings.configuration.rooms?.statusPage, let status = links.status else { return }
        var page = try StatusServerSettings(
            pageAt: address, stateDirectory: settings.stateDirectory,
            tokenCommand: "ibeacon-gateway status --token --state-dir \(settings.stateDirectory)", log: log)
        page.cookieName = "ibeacon_rooms"
        try status.open(page, source: SitePage(self))
    }

    var monitor: SiteMonitor { links.monitor }
    var commandCounters: SiteCommands { conversation.commands }
    var now: MonotonicInstant { host.now }

    var pageFrame: SiteSnapshot {
        let role = election.role
        let service = SiteSnapshot.ServiceState(
            site: identity.site, instance: election.instance, role: role,
            other: role == .active ? nil : election.other, version: Program.version, startedAt: monitor.startedAt)
        var frame = SiteSnapshot(
            now: now, wallClock: host.wallClock, service: service,
            broker: monitor.brokerState(settings.configuration, at: now))
        if let counters = links.store.counters {
            frame.queue = .init(
                pending: counters.outboxRows + counters.pending, setAside: Int(clamping: counters.refusedRows),
                dropped: counters.dropped.total, sent: monitor.sent)
        }
        frame.storeProblem = monitor.storeProblem
        frame.service.dropped = UInt64(max(0, links.broker.droppedMessages))
        frame.service.refused = door.refused
        frame.service.unreadable = door.unreadable.sorted()
        frame.service.process = ProcessUsage.read()
        return frame
    }

    // MARK: - Tags

    func change(_ wish: TagWish) -> String? {
        // A change before the stored state is read would overwrite that state.
        guard links.broker.settings != nil else { return "the service has not read its state yet" }
        return switch wish {
        case .add(let name, let beacon): add(name, beacon)
        case .rename(let id, let name): rename(id, to: name)
        case .remove(let id): remove(id)
        }
    }

    private func add(_ name: String, _ beacon: String) -> String? {
        if let problem = problem(withName: name) { return problem }
        guard let beacon = FeedDecoder.beaconID(beacon) else {
            return "'\(shortened(beacon))' is no beacon; write UUID:major:minor, as 'ibeacon-gateway scan' shows it"
        }
        guard site.tags.count < RoomEngine.mostTags else {
            return "there are already \(RoomEngine.mostTags) tags, the largest possible number"
        }
        if let other = site.tags.first(where: { $0.pattern.matches(beacon) }) {
            return "this beacon is the tag '\(other.name)' already"
        }
        let pattern = BeaconPattern(uuid: beacon.uuid, major: beacon.major, minor: beacon.minor)
        change(tags: [.set(region(RoomName.id(of: name), name, pattern), isRIDDerived: false)])
        return nil
    }

    private func rename(_ id: String, to name: String) -> String? {
        guard let (region, tag) = changeable(id) else { return refusal(of: id) }
        guard name != tag.name else { return nil }
        if let problem = problem(withName: name, except: id) { return problem }
        // With the id as its key, the tag keeps its identity under every name.
        var renamed = region
        renamed.rid = id
        renamed.description = RegionDescription(name: name, pattern: tag.pattern)
        renamed.timestamp = epoch
        var changes: [RegionChange] = [.set(renamed, isRIDDerived: false)]
        if !region.rid.hasSameBytes(as: id) { changes.insert(.remove(rid: region.rid), at: 0) }
        change(tags: changes)
        return nil
    }

    private func remove(_ id: String) -> String? {
        guard let (region, _) = changeable(id) else { return refusal(of: id) }
        change(tags: [.remove(rid: region.rid)])
        return nil
    }

    private func region(_ id: String, _ name: String, _ pattern: BeaconPattern) -> Region {
        Region(rid: id, description: RegionDescription(name: name, pattern: pattern), timestamp: epoch)
    }

    /// The tag with this id as a region; nil if the configuration file defines it, because a reload would restore it.
    private func changeable(_ id: String) -> (region: Region, tag: TagIdentity)? {
        guard !monitor.configuredTags.contains(id) else { return nil }
        for region in tags.regions {
            if let tag = TagIdentity(region), tag.id == id { return (region, tag) }
        }
        return nil
    }

    private func refusal(of id: String) -> String {
        monitor.configuredTags.contains(id)
            ? "the tag is in the configuration file (rooms.tags); change it there" : "there is no such tag"
    }

    /// - Parameter id: The tag that may have the name.
    private func problem(withName name: String, except id: String? = nil) -> String? {
        guard (1...FeedDecoder.mostNameBytes).contains(name.utf8.count),
            !name.contains(where: { $0 == ":" || $0 == "|" }),
            !name.hasPrefix("+"), !name.hasPrefix("-"),
            name.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f })
        else {
            return
                "a name has 1 to \(FeedDecoder.mostNameBytes) bytes, no ':' or '|', and does not begin with '+' or '-'"
        }
        let made = RoomName.id(of: name)
        let other = site.tags.first { $0.id != id && ($0.name == name || (id == nil && $0.id == made)) }
        return other.map { "there is a tag '\($0.name)' already" }
    }

    // MARK: - Rooms

    func search() -> String? {
        guard links.broker.isConnected else { return "there is no connection to the broker" }
        monitor.nearby.begin(at: now)
        publishAside(
            RoomTopic.nearbyRequest(site: identity.site).text, NearbyRequest.payload(NearbyBeacons.duration),
            isRetained: false)
        links.status?.changed()
        return nil
    }

    func learn(_ request: FeedDecoder.LearnRequest) -> String? {
        if case .train(_, let tag, _) = request, !site.tags.contains(where: { $0.id == tag || $0.name == tag }) {
            return "there is no such tag"
        }
        // Sent through the broker, as from the command line, so that the other services of the site receive it too.
        guard links.broker.isConnected else { return "there is no connection to the broker" }
        publishAside(RoomTopic.learn(site: identity.site).text, request.payload, isRetained: false)
        return nil
    }
}
