import Base
import Gateway
import Health
import JSON
import OwnTracks
import Status

/// All entities of the gateway in Home Assistant, derived from the regions.
struct DiscoveryList {
    let settings: HomeAssistantFeed.Settings
    private(set) var messages: [Publication] = []
    /// The topics of descriptions that are in force.
    private let announced: Set<ExactString>

    /// - Parameter announced: The topics of descriptions that are in force, also those of earlier runs.
    init(_ snapshot: StatusSnapshot, settings: HomeAssistantFeed.Settings, announced: Set<ExactString>) {
        self.settings = settings
        self.announced = announced
        addGateway(snapshot)
        for (index, tracker) in snapshot.trackers.enumerated() { add(tracker, at: index) }
    }

    private func availability(_ device: String) -> JSONValue {
        [["topic": .string(DeviceTopics.availability(device: device))]]
    }

    private var origin: JSONValue {
        [
            "name": "ibeacon-gateway", "sw_version": .string(settings.version),
        ]
    }

    private var gatewayDevice: JSONValue {
        var device: [String: JSONValue] = [
            "identifiers": [.string(settings.nodeID)],
            "name": .string("iBeacon gateway \(settings.device)".asEntityName),
            "manufacturer": "ibeacon-gateway", "model": "iBeacon gateway", "sw_version": .string(settings.version),
        ]
        if let url = settings.pageURL { device["configuration_url"] = .string(url) }
        if let area = settings.area?.asEntityName, !area.isEmpty { device["suggested_area"] = .string(area) }
        return .object(device)
    }

    // MARK: The gateway

    private mutating func addGateway(_ snapshot: StatusSnapshot) {
        let state = JSONValue.string(DeviceTopics.gateway(device: settings.device))
        add(
            "binary_sensor", "connectivity", gatewayDevice,
            [
                "name": "Connectivity", "device_class": "connectivity", "entity_category": "diagnostic",
                "state_topic": .string(DeviceTopics.availability(device: settings.device)),
                "payload_on": "online", "payload_off": "offline",
            ])
        add(
            "binary_sensor", "scanner", gatewayDevice,
            available([
                "name": "Scanner", "device_class": "running", "state_topic": state,
                "value_template": "{{ 'ON' if value_json.listening else 'OFF' }}",
            ]))
        add(
            "binary_sensor", "problem", gatewayDevice,
            available([
                "name": "Problem", "device_class": "problem", "state_topic": state,
                "value_template": "{{ 'ON' if value_json.problems else 'OFF' }}",
                "json_attributes_topic": state,
                "json_attributes_template": "{{ {'problems': value_json.problems} | tojson }}",
            ]))
        add(
            "sensor", "adverts", gatewayDevice,
            available([
                "name": "Advertisements", "state_topic": state, "state_class": "measurement",
                "unit_of_measurement": "1/s", "icon": "mdi:bluetooth-audio",
                "value_template": "{{ value_json.reportsPerSecond }}",
            ]))
        add(
            "sensor", "beacons", gatewayDevice,
            available([
                "name": "Beacons", "state_topic": state, "state_class": "measurement", "icon": "mdi:bluetooth",
                "value_template": "{{ value_json.beacons }}",
            ]))
        add(
            "sensor", "queue", gatewayDevice,
            available([
                "name": "Queue", "state_topic": state, "state_class": "measurement", "icon": "mdi:tray-full",
                "value_template": "{{ value_json.queue }}",
            ]))
        // Home Assistant shows a start time as "2 hours ago"; a counting number would fill its database.
        add(
            "sensor", "started", gatewayDevice,
            available([
                "name": "Started", "device_class": "timestamp", "state_topic": state,
                "value_template": "{{ value_json.started }}",
            ]))
        guard settings.takesCommands else { return }
        add(
            "button", "restart-scan", gatewayDevice,
            available([
                "name": "Restart scan", "command_topic": .string(DeviceTopics.command(device: settings.device)),
                "payload_press": "restart-scan", "icon": "mdi:restart",
            ]))
    }

    private func available(_ members: [String: JSONValue], device: String? = nil) -> [String: JSONValue] {
        var all = members
        all["availability"] = availability(settings.device)
        if all["entity_category"] == nil { all["entity_category"] = "diagnostic" }
        return all
    }

    // MARK: Trackers

    private mutating func add(_ tracker: StatusSnapshot.TrackerStatus, at index: Int) {
        // The topic is the tracker's identity with OwnTracks; its short tid is free to change.
        let id = "tracker-" + TopicIdentifier.identifier(of: tracker.topic)
        let path = tracker.topic.split(separator: "/").dropFirst().joined(separator: " ")
        let name = (tracker.name ?? path).asEntityName
        let device: JSONValue = [
            "identifiers": [.string("\(settings.nodeID)_\(id)")], "name": .string(name.isEmpty ? tracker.tid : name),
            "manufacturer": "ibeacon-gateway", "model": "Tracker", "via_device": .string(settings.nodeID),
        ]
        let presence = JSONValue.string(tracker.presenceTopic)
        // Versions before 2026.7 count the persons in a zone by the tracker's state, later ones by the attribute
        // `in_zones`. 2026.11.0 still shows the state; its source (`TrackerEntity.location_name`) is to be removed with
        // 2027.7.
        add(
            "device_tracker", id, device,
            [
                "name": .null, "source_type": "bluetooth_le", "state_topic": presence,
                "value_template": "{{ value_json.state }}", "json_attributes_topic": presence,
                "json_attributes_template":
                    "{{ {'in_zones': value_json.in_zones, 'regions': value_json.regions} | tojson }}",
                "availability": availability(settings.device),
            ])
        if settings.takesCommands {
            let commands = JSONValue.string(DeviceTopics.command(device: settings.device))
            add(
                "select", "\(id)_monitoring", device,
                available([
                    "name": "Monitoring", "state_topic": presence, "value_template": "{{ value_json.monitoring }}",
                    "command_topic": commands, "command_template": .string("monitoring:\(index):{{ value }}"),
                    "options": ["quiet", "manual", "significant", "move"], "entity_category": "config",
                    "icon": "mdi:eye",
                ]))
            add(
                "button", "\(id)_report", device,
                available([
                    "name": "Report location", "command_topic": commands,
                    "payload_press": .string("report-location:\(index)"), "icon": "mdi:map-marker-up",
                ]))
        }
        let regions = Array(tracker.regions.prefix(HomeAssistantFeed.regionLimit))
        let names = entityNames(of: regions)
        for region in regions {
            add(region, named: names[region.rid] ?? region.rid, of: tracker, id: id, device: device)
        }
    }

    /// The names of regions by `rid`. Regions that share a name show their numbers behind it, `Keys 1:7`; regions
    /// without a name, or whose numbers are the same too, show their `rid`.
    private func entityNames(of regions: [StatusSnapshot.RegionStatus]) -> [ExactString: String] {
        func isUnique(_ names: [String]) -> [String: Bool] {
            Dictionary(names.map { ($0, true) }) { _, _ in false }
        }
        let plain = regions.map(\.name.asEntityName)
        let isPlainUnique = isUnique(plain)
        let numbered = zip(plain, regions).map { "\($0) \($1.numbers)" }
        let isNumberedUnique = isUnique(numbered)
        var names: [ExactString: String] = [:]
        for (index, region) in regions.enumerated() {
            if plain[index].isEmpty {
                names[region.rid] = "Region \(region.rid)".asEntityName
            } else if isPlainUnique[plain[index]] == true {
                names[region.rid] = plain[index]
            } else if isNumberedUnique[numbered[index]] == true, !region.numbers.isEmpty {
                names[region.rid] = numbered[index].asEntityName
            } else {
                names[region.rid] = "\(plain[index]) \(region.rid)".asEntityName
            }
        }
        return names
    }

    private mutating func add(
        _ region: StatusSnapshot.RegionStatus, named name: String, of tracker: StatusSnapshot.TrackerStatus, id: String,
        device: JSONValue
    ) {
        let object = "\(id)_\(TopicIdentifier.identifier(of: region.rid))"
        let state = JSONValue.string(DeviceTopics.region(device: tracker.device, rid: region.rid))
        let signal = JSONValue.string(tracker.signalTopic(rid: region.rid))
        add(
            "binary_sensor", "\(object)_occupancy", device,
            [
                "name": .string(name), "device_class": "occupancy", "state_topic": state,
                // The state of a removed region is emptied, often before Home Assistant has removed the entity, and so is
                // that of a tracker in quiet mode. `None` is "unknown".
                "value_template":
                    "{{ ('ON' if value_json.state == 'inside' else 'OFF') if value_json is defined else 'None' }}",
                "json_attributes_topic": state,
                // The payload has seconds since 1970; Home Assistant shows a date.
                "json_attributes_template":
                    "{{ ({'since': value_json.since | timestamp_custom('%Y-%m-%dT%H:%M:%S+00:00', false)} if value_json is defined else {}) | tojson }}",
                "availability": availability(settings.device),
            ])
        add(
            "sensor", "\(object)_rssi", device,
            available([
                "name": .string("\(name) RSSI"), "device_class": "signal_strength", "unit_of_measurement": "dBm",
                "state_class": "measurement", "state_topic": signal, "value_template": "{{ value_json.rssi }}",
                "enabled_by_default": false,
            ]))
        addBattery(of: region, named: name, of: tracker, object: "\(object)_battery", device: device)
        add(
            "sensor", "\(object)_distance", device,
            available([
                "name": .string("\(name) distance"), "device_class": "distance", "unit_of_measurement": "m",
                "state_class": "measurement", "state_topic": signal, "value_template": "{{ value_json.distance }}",
                "enabled_by_default": false,
            ]))
        add(
            "sensor", "\(object)_seen", device,
            available([
                "name": .string("\(name) last seen"), "device_class": "timestamp", "state_topic": signal,
                // Each change is a row in Home Assistant's activity.
                "value_template": "{{ value_json.seen }}", "enabled_by_default": false,
            ]))
        add(
            "sensor", "\(object)_beacon", device,
            available([
                "name": .string("\(name) beacon"), "icon": "mdi:bluetooth", "state_topic": signal,
                "value_template":
                    "{{ value_json.beacon.split(':')[1:] | join(':') if value_json.beacon else 'none' }}",
                "json_attributes_topic": signal,
                "json_attributes_template":
                    "{{ ({'uuid': value_json.beacon.split(':')[0]} if value_json.beacon else {}) | tojson }}",
            ]))
    }

    /// The battery of the region's beacon, if it was ever read. Most tags do not send it. An entity that an earlier run
    /// described stays until the region is removed: Home Assistant would forget what its user changed about it.
    private mutating func addBattery(
        of region: StatusSnapshot.RegionStatus, named name: String, of tracker: StatusSnapshot.TrackerStatus,
        object: String, device: JSONValue
    ) {
        let topic = settings.topics.description("sensor", object)
        guard region.battery != nil || announced.contains(ExactString(topic)) else { return }
        let state = JSONValue.string(tracker.batteryTopic(rid: region.rid))
        add(
            "sensor", object, device,
            available([
                "name": .string("\(name) battery"), "device_class": "battery", "unit_of_measurement": "%",
                "state_class": "measurement", "state_topic": state, "value_template": "{{ value_json.battery }}",
                "json_attributes_topic": state,
                "json_attributes_template":
                    "{{ {'low': value_json.low, 'voltage': value_json.voltage, 'temperature': value_json.temperature} | tojson }}",
            ]))
    }

    private mutating func add(
        _ component: String, _ object: String, _ device: JSONValue, _ members: [String: JSONValue]
    ) {
        messages.append(
            DiscoveryConfig(component: component, object: object, members: members)
                .message(on: settings.topics, device: device, origin: origin))
    }
}

extension StatusSnapshot.RegionStatus {
    /// `major:minor` of the region's description as far as it names them; empty for a region of a whole UUID.
    fileprivate var numbers: String {
        let parts = description.split(separator: ":", omittingEmptySubsequences: false)
        guard let uuid = parts.lastIndex(where: { $0.utf8.count == 36 || $0.utf8.count == 32 }) else { return "" }
        return parts[(uuid + 1)...].joined(separator: ":")
    }
}
