package import Base
package import Beacon
import Gateway
import Health
package import HostSupport
package import JSON
import OwnTracks
package import PageServer
import Presence
import Regions
package import Status
package import StatusPage

/// A home with two trackers, some beacons and no radio: what the page shows while it is tested.
package final class FakeHome: StatusSource {
    private struct Room {
        var rid: String
        var name: String
        var beacon: BeaconID
        var isInside = false
        var since: MonotonicInstant?
    }

    private let host: PollLoop
    private let start: MonotonicInstant
    private var rooms: [[Room]]
    private var transitions: [PastTransition] = []
    private var log = BeaconLog()
    private var heardUntil: MonotonicInstant
    private var random: UInt64 = 7
    /// Findings that a gateway in trouble has.
    package var hasTrouble = false
    package private(set) var actions: [StatusAction] = []
    package private(set) var snapshots = 0

    package static let uuid = BeaconUUID(high: 0xfda5_0693_a4e2_4fb1, low: 0xafcf_c6eb_0764_7825)

    package init(host: PollLoop) {
        self.host = host
        start = host.now
        heardUntil = host.now.advanced(by: .seconds(-300))
        func room(_ rid: String, _ name: String, _ minor: UInt16) -> Room {
            Room(rid: rid, name: name, beacon: BeaconID(uuid: Self.uuid, major: 1, minor: minor))
        }
        rooms = [
            [room("b4b412", "Kitchen", 1), room("c00b92", "Living room", 2), room("05f7ac", "Garage", 3)],
            [room("67952e", "Front door", 4)],
        ]
    }

    /// Executes one line. A beacon enters or leaves, or a name comes over MQTT: `enter RID`, `leave RID`,
    /// `name RID TEXT`, `remove RID`, `share RID` (the other tracker gets the region, too), `trouble`.
    package func obey(_ line: String) {
        let words = line.split(separator: " ", maxSplits: 2).map(String.init)
        guard let verb = words.first else { return }
        if verb == "trouble" { hasTrouble = true }
        guard words.count > 1 else { return }
        for (position, list) in rooms.enumerated() {
            guard let index = list.firstIndex(where: { $0.rid == words[1] }) else { continue }
            switch verb {
            case "enter", "leave":
                rooms[position][index].isInside = verb == "enter"
                rooms[position][index].since = host.now
                transitions.insert(
                    PastTransition(
                        tracker: "", trackerID: position == 0 ? "GW" : "AN", rid: list[index].rid,
                        name: list[index].name, event: verb == "enter" ? .enter : .leave, beacon: list[index].beacon,
                        timestamp: 0, stamp: .exact, happened: host.now), at: 0)
            case "name": rooms[position][index].name = words.count > 2 ? words[2] : ""
            case "share": rooms[1 - position].append(list[index])
            case "remove": rooms[position].remove(at: index)
            default: break
            }
        }
    }

    /// A report from the radio, as the daemon would take it.
    package func hear(minor: UInt16, dBm: Int8, at instant: MonotonicInstant) {
        log.hear(
            Sighting(
                beacon: BeaconID(uuid: Self.uuid, major: 1, minor: minor), measuredPower: MeasuredPower(dBm: -59),
                rssi: RSSI(reported: dBm), receiver: Receiver(index: 0)), at: instant)
    }

    /// One report of each of six beacons for each second since the last call, with some lost.
    private func catchUp() {
        while heardUntil < host.now {
            heardUntil = heardUntil.advanced(by: .seconds(1))
            for minor in 1...6 as ClosedRange<UInt16> {
                random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let noise = Int8(truncatingIfNeeded: random >> 60)
                let second = heardUntil.nanoseconds / 1_000_000_000
                let wave = Int8((second / Int64(minor * 5 + 7)) % 6) * 3
                let isAway = minor == 6 && second / 70 % 3 == 0
                if !isAway { hear(minor: minor, dBm: -48 - Int8(minor) * 5 - wave - noise / 3, at: heardUntil) }
            }
        }
    }

    package func settingsForm() -> JSONValue {
        [
            "settings": [
                "discovery": true, "lat": .number(48.2), "lon": .number(16.37), "leaveAfter": "auto",
                "names": [.null, "Anna"],
                "devices": ["pi-kitchen", "anna"],
            ],
            "obstacle": .null, "isOnTrial": false, "refused": 0, "reason": .null,
        ]
    }

    package func statusSnapshot() -> StatusSnapshot {
        snapshots += 1
        catchUp()
        let now = host.now
        var snapshot = StatusSnapshot(
            now: now, wallClock: WallClock(epochNanoseconds: 1_767_225_600_000_000_000, at: start, isKnown: true),
            version: "1.0.0", device: "pi-kitchen", startedAt: start.advanced(by: .seconds(-5400)))
        var adapter = StatusSnapshot.Adapter(name: "hci0", isListening: !hasTrouble)
        (adapter.reports, adapter.reportsPerSecond, adapter.duty) = (48_211, hasTrouble ? 0 : 41.5, 0.97)
        adapter.malformed = 3
        adapter.lastHeard = now
        snapshot.scanner = .init(name: "mgmt", adapters: [adapter])
        snapshot.brokers = [
            hasTrouble
                ? .init(name: "localhost:1883", phase: .disconnected, reason: "connection refused", since: start)
                : .init(name: "localhost:1883", phase: .connected, since: start)
        ]
        snapshot.queue = .init(pending: hasTrouble ? 12 : 0, sent: 1204)
        snapshot.store = .init(writes: 2210)
        snapshot.counters.sightings = 40_120
        snapshot.transitions = transitions
        snapshot.process = .init(processorTime: .seconds(71), residentBytes: 21 << 20, openDescriptors: 19)
        let states = log.states(at: now)
        snapshot.trackers = rooms.enumerated().map { tracker(at: $0, $1, states, now) }
        snapshot.markStale()
        snapshot.beacons = states.map { beacon in
            var beacon = beacon
            beacon.distance = beacon.rssi.map { distance(dBm: $0.dBm) }
            beacon.regions = rooms.flatMap { list in list.filter { $0.beacon == beacon.id }.map(\.name) }
            beacon.regionCount = beacon.regions.count
            // Beside its region, which the page shows then.
            if beacon.id.minor == 4 { beacon.gateway = "pi-hall" }
            return beacon
        }
        snapshot.phones = [
            .init(
                name: "Jane", uuid: "0B87D8B3-EED6-5BFF-9DAA-54326BACEC6A", isOrdered: true,
                lastHeard: now.advanced(by: .seconds(-240)), gateways: ["pi-hall"]),
            .init(
                name: "Bob", uuid: "1B87D8B3-EED6-5BFF-9DAA-54326BACEC6A", isOrdered: true,
                lastHeard: now.advanced(by: .seconds(-6 * 86400)), gateways: []),
        ]
        snapshot.proxies = [Self.proxy(at: now)]
        snapshot.ownBeacon = Self.ownBeacon(isRefused: hasTrouble)
        snapshot.findings = findings
        return snapshot
    }

    /// The beacon for the other gateways of the site.
    private static func ownBeacon(isRefused: Bool) -> StatusSnapshot.OwnBeacon {
        var own = StatusSnapshot.OwnBeacon(BeaconID(uuid: BeaconUUID(high: 7, low: 8), major: 0, minor: 3))
        if isRefused {
            own.problem = .init(text: "hci0 does not send it: the kernel refuses addAdvertising: Busy", remedy: "wait")
        } else {
            (own.adapter, own.interval, own.burst) = ("hci0", .milliseconds(1304), .seconds(6))
        }
        return own
    }

    /// A proxy that serves one Home Assistant, and refuses another.
    private static func proxy(at now: MonotonicInstant) -> StatusSnapshot.ProxyState {
        var proxy = StatusSnapshot.ProxyState(name: "ibg-pi-kitchen", adapter: "hci0", port: 6053)
        proxy.isAtBroker = true
        proxy.avahiProblem = "avahi-daemon does not run"
        let since = now.advanced(by: .seconds(-600))
        proxy.clients = [
            .init(
                name: "Home Assistant 2026.11.0", address: "192.168.1.9", isSubscribed: true, since: since,
                sent: 81_000,
                dropped: 12, refusal: nil),
            .init(
                name: "Home Assistant 2026.10.4", address: "172.17.0.2", isSubscribed: false, since: since, sent: 0,
                dropped: 0, refusal: "it runs in a container of this machine (docker0), and may use the same adapter"),
        ]
        proxy.homes = [.init(address: "192.168.1.9", isConnected: true)]
        (proxy.sent, proxy.dropped, proxy.refused, proxy.failed) = (81_000, 12, 3, 4)
        proxy.lost = 5
        return proxy
    }

    private func tracker(
        at position: Int, _ list: [Room], _ beacons: [StatusSnapshot.BeaconState], _ now: MonotonicInstant
    ) -> StatusSnapshot.TrackerStatus {
        .init(
            tid: position == 0 ? "GW" : "AN",
            topic: position == 0 ? "owntracks/home/pi-kitchen" : "owntracks/home/anna",
            device: position == 0 ? "pi-kitchen" : "anna", name: position == 0 ? nil : "Anna's keys",
            regions: list.map { room in
                let beacon = beacons.first { $0.id == room.beacon }
                var region = StatusSnapshot.RegionStatus(
                    rid: room.rid, name: room.name, description: "\(room.name):\(room.beacon)", isInside: room.isInside)
                region.since = room.since
                region.beacon = room.beacon
                region.rssi = beacon?.rssi
                region.distance = beacon?.rssi.map { distance(dBm: $0.dBm) }
                region.lastHeard = beacon?.lastHeard
                region.explanation =
                    room.isInside ? "Heard every second; left after 60 s of silence." : "Not heard near enough."
                return region
            })
    }

    private func distance(dBm: Int8) -> Double {
        dBm > -60 ? 0.8 : dBm > -75 ? 3.4 : 9.5
    }

    private var findings: [Finding] {
        guard hasTrouble else {
            return [.init(.ok, "adapter", "hci0 scans"), .init(.ok, "broker", "localhost:1883 is connected")]
        }
        return [
            .init(
                .error, "broker", "localhost:1883 refused the connection",
                remedy: "start it: systemctl start mosquitto"),
            .init(.warning, "adapter", "hci0 is blocked by rfkill", remedy: "unblock it: rfkill unblock bluetooth"),
            .init(.ok, "clock", "the time of day is known"),
        ]
    }

    package func explanation(ofRegion name: String) -> [JSONValue] {
        rooms.flatMap(\.self).filter { $0.name == name || $0.rid == name }.map { room in
            ["rid": .string(room.rid), "name": .string(room.name), "inside": .bool(room.isInside), "beacons": []]
        }
    }

    package func region(ofTracker position: Int, rid: String) -> JSONValue? {
        guard rooms.indices.contains(position), let room = rooms[position].first(where: { $0.rid == rid }) else {
            return nil
        }
        return [
            "rid": .string(room.rid), "desc": .string(room.name), "uuid": .string("\(room.beacon.uuid)"),
            "major": .integer(Int64(room.beacon.major)), "minor": .integer(Int64(room.beacon.minor)),
            "leaveAfter": .null, "enterRSSI": .null, "leaveRSSI": .null,
        ]
    }

    package func offer(for request: PageRequest) -> PageAnswer? {
        guard let room = request.argument("room"), !room.isEmpty else { return .refused(status: 422, "name the room") }
        let command = "ibeacon-gateway card --room '\(room)' card"
        return .json([
            "command": .string(command), "broker": "broker.lan", "needs": ["archive.asc: its key"],
            "files": [["name": "user-data", "text": .string("hostname: \(room)\n")]],
        ])
    }

    package func perform(_ action: StatusAction) -> StatusActionResult {
        actions.append(action)
        switch action {
        case .setRegion(let tracker, let text):
            guard rooms.indices.contains(tracker), let waypoint = try? JSONValue(parsing: text),
                let name = waypoint["desc"]?.string
            else { return .refused("that is no region") }
            let beacon = BeaconID(
                uuid: Self.uuid, major: UInt16(waypoint["major"]?.asInteger ?? 0),
                minor: UInt16(waypoint["minor"]?.asInteger ?? 0))
            rooms[tracker].append(
                Room(rid: "new-\(actions.count)", name: name, beacon: beacon, isInside: true, since: host.now))
            return .done
        case .editRegion(let tracker, let text):
            guard let waypoint = try? JSONValue(parsing: text), let rid = waypoint["rid"]?.string,
                rooms.indices.contains(tracker), let index = rooms[tracker].firstIndex(where: { $0.rid == rid })
            else { return .refused("there is no such region") }
            if let name = waypoint["desc"]?.string { rooms[tracker][index].name = name }
            return .done
        case .removeRegion(let tracker, let rid):
            guard rooms.indices.contains(tracker) else { return .refused("there is no such tracker") }
            rooms[tracker].removeAll { $0.rid == rid }
            return .done
        case .changeSettings, .reportLocation, .restartScan: return .done
        }
    }
}
