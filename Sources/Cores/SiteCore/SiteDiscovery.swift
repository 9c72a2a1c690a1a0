package import Base
import Health
import JSON

/// Describes what a rooms service knows to Home Assistant: a device for each tag, each room and each gateway.
///
/// The entities show the site's own retained topics. They have no availability: an automation that waits for a room must
/// not run because the service was restarted. The service's availability is a separate entity.
package struct SiteDiscovery: Sendable {
    package struct Settings: Hashable, Sendable {
        /// The discovery prefix, usually `homeassistant`.
        package var prefix: String
        package var site: String
        package var version: String

        package init(prefix: String, site: String, version: String) {
            (self.prefix, self.site, self.version) = (prefix, site, version)
        }

        /// The topic level of this site.
        package var nodeID: String { "ibeacon-rooms-" + TopicIdentifier.identifier(of: site) }
    }

    /// What is to be described.
    package struct Inventory: Hashable, Sendable {
        package struct Item: Hashable, Sendable {
            /// The last level of its topics.
            package var id: String
            package var name: String

            package init(id: String, name: String) { (self.id, self.name) = (id, name) }
        }

        package struct Gateway: Hashable, Sendable {
            package var name: String
            /// Whether it has published a card; an ESPresense node has none.
            package var hasCard: Bool
            /// The name of its room.
            package var room: String

            package init(name: String, hasCard: Bool, room: String) {
                (self.name, self.hasCard, self.room) = (name, hasCard, room)
            }
        }

        /// The instance name of the active service.
        package var instance: String
        package var tags: [Item] = []
        package var rooms: [Item] = []
        package var gateways: [Gateway] = []

        package init(instance: String) { self.instance = instance }
    }

    /// The most tags that are described, with five entities each; no home has more.
    package static let tagLimit = 200
    /// The same for rooms and for gateways, with up to two entities each.
    package static let placeLimit = 250

    package let settings: Settings
    private let topics: DiscoveryTopics
    private var removed = RemovedDescriptions()

    package init(_ settings: Settings) {
        self.settings = settings
        topics = DiscoveryTopics(prefix: settings.prefix, nodeID: settings.nodeID)
    }

    /// The topics of Home Assistant's birth message and of the descriptions, including those of earlier runs.
    package var subscriptions: Set<String> {
        birthTopics.union([descriptionFilter])
    }

    /// The topics of all descriptions of this site.
    package var descriptionFilter: String { topics.descriptions }

    /// Where Home Assistant publishes `online` when it has started.
    package var birthTopics: Set<String> { topics.births }

    /// Whether a topic is that of one of this site's descriptions.
    package func isDescription(_ topic: String) -> Bool { topics.isDescription(topic) }

    // MARK: Removal

    /// Records that a description was emptied, or is in force again.
    ///
    /// - Parameter payload: The emptied description; nil if it is in force again.
    package mutating func recordRemoval(of topic: String, payload: String?) {
        if let payload { removed.add(topic, payload: payload) } else { removed.remove(topic) }
    }

    /// After a start of Home Assistant, repeats the descriptions whose removal it may have missed.
    package mutating func messagesAtBirth(at now: MonotonicInstant) -> [Publication] {
        removed.messagesAtBirth(at: now)
    }

    /// Empties the descriptions that were repeated at the start, once that is due.
    package mutating func messagesDue(at now: MonotonicInstant) -> [Publication] {
        removed.messagesDue(at: now)
    }

    // MARK: Descriptions

    /// The descriptions of all entities that Home Assistant should have.
    package func descriptions(of inventory: Inventory) -> [Publication] {
        var list: [Publication] = []
        describeService(inventory.instance, &list)
        for tag in inventory.tags.prefix(Self.tagLimit) { describe(tag: tag, &list) }
        for room in inventory.rooms.prefix(Self.placeLimit) { describe(room: room, &list) }
        for gateway in inventory.gateways.prefix(Self.placeLimit) { describe(gateway: gateway, &list) }
        return list
    }

    private func topic(_ kind: String, _ name: String) -> JSONValue {
        .string("ibeacon-rooms/\(settings.site)/\(kind)/\(name)")
    }

    private func add(
        _ component: String, _ object: String, _ device: JSONValue, _ members: [String: JSONValue],
        to list: inout [Publication]
    ) {
        let origin: JSONValue = ["name": "ibeacon-gateway", "sw_version": .string(settings.version)]
        list.append(
            DiscoveryConfig(component: component, object: object, members: members)
                .message(on: topics, device: device, origin: origin))
    }

    /// - Parameter area: The area in which Home Assistant creates the device; nil for a device that moves.
    private func device(_ object: String, _ name: String, _ model: String, area: String? = nil) -> JSONValue {
        var device: [String: JSONValue] = [
            "identifiers": [.string("\(settings.nodeID)_\(object)")], "name": .string(name),
            "manufacturer": "ibeacon-gateway", "model": .string(model), "via_device": .string(settings.nodeID),
        ]
        device["suggested_area"] = area.flatMap(Self.area)
        return .object(device)
    }

    private static func area(_ room: String) -> JSONValue? {
        let name = room.asEntityName
        return name.isEmpty ? nil : .string(name)
    }

    private func describeService(_ instance: String, _ list: inout [Publication]) {
        let device: JSONValue = [
            "identifiers": [.string(settings.nodeID)], "name": .string("iBeacon rooms \(settings.site)".asEntityName),
            "manufacturer": "ibeacon-gateway", "model": "Rooms service", "sw_version": .string(settings.version),
        ]
        add(
            "binary_sensor", "service", device,
            [
                "name": "Connectivity", "device_class": "connectivity", "entity_category": "diagnostic",
                "state_topic": topic("service", instance),
                "value_template": "{{ 'ON' if value_json is defined and value_json.active else 'OFF' }}",
            ], to: &list)
    }

    // When a tag, a room or a gateway is removed, its state is emptied, often before Home Assistant removes the entity: hence
    // "is defined". `None` is "unknown": nobody left because of that, and no automation may take it for a leave.

    private func describe(tag: Inventory.Item, _ list: inout [Publication]) {
        let object = "tag-" + TopicIdentifier.identifier(of: tag.id)
        let name = tag.name.asEntityName
        let device = device(object, name.isEmpty ? tag.id : name, "Tag")
        let state = topic("tag", tag.id)
        add(
            "sensor", "\(object)_room", device,
            [
                "name": "Room", "icon": "mdi:map-marker", "state_topic": state,
                "value_template":
                    "{{ (value_json.roomName or ('unknown' if value_json.home else 'not_home')) if value_json is defined else 'unknown' }}",
                "json_attributes_topic": state,
                // The payload has seconds since 1970; Home Assistant shows a date.
                "json_attributes_template":
                    "{{ ({'room_id': value_json.room, 'since': value_json.since | timestamp_custom('%Y-%m-%dT%H:%M:%S+00:00', false)} if value_json is defined else {}) | tojson }}",
            ], to: &list)
        add(
            "device_tracker", object, device,
            [
                "name": .null, "source_type": "bluetooth_le", "state_topic": state,
                "value_template":
                    "{{ ('home' if value_json.home else 'not_home') if value_json is defined else 'None' }}",
                "json_attributes_topic": state,
                // Home Assistant counts who is in a zone by `in_zones` from 2026.7 on.
                "json_attributes_template":
                    "{{ ({'in_zones': ['zone.home'] if value_json.home else [], 'room': value_json.roomName} if value_json is defined else {}) | tojson }}",
            ], to: &list)
        add(
            "sensor", "\(object)_confidence", device,
            [
                "name": "Confidence", "icon": "mdi:percent", "unit_of_measurement": "%", "state_class": "measurement",
                "entity_category": "diagnostic", "state_topic": state,
                "value_template": "{{ (value_json.confidence * 100) | round | int if value_json is defined else '' }}",
            ], to: &list)
        describeLastPlace(object, device, state, &list)
    }

    // Optional members are read with "get": Home Assistant warns of a member that is not defined.

    /// Where the tag was last, for somebody who looks for it. Both are disabled until a user wants them.
    private func describeLastPlace(
        _ object: String, _ device: JSONValue, _ state: JSONValue, _ list: inout [Publication]
    ) {
        add(
            "sensor", "\(object)_last_room", device,
            [
                "name": "Last room", "icon": "mdi:map-marker-question", "enabled_by_default": false,
                "state_topic": state,
                "value_template":
                    "{{ (value_json.roomName or value_json.get('lastRoomName') or 'unknown') if value_json is defined else 'unknown' }}",
            ], to: &list)
        add(
            "sensor", "\(object)_last_heard", device,
            [
                "name": "Last heard", "device_class": "timestamp", "enabled_by_default": false,
                // A tag at home is heard all the time, so that the entity is not available then. Home Assistant reads the value in
                // any case, and warns of one that is no time.
                "availability_topic": state,
                "availability_template":
                    "{{ 'online' if value_json is defined and value_json.get('lastHeard') else 'offline' }}",
                "state_topic": state,
                "value_template":
                    "{{ ((value_json.get('lastHeard') or value_json.since) if value_json is defined else 0) | timestamp_custom('%Y-%m-%dT%H:%M:%S+00:00', false) }}",
            ], to: &list)
    }

    private func describe(room: Inventory.Item, _ list: inout [Publication]) {
        let object = "room-" + TopicIdentifier.identifier(of: room.id)
        let name = room.name.asEntityName
        let device = device(object, name.isEmpty ? room.id : name, "Room", area: room.name)
        let state = topic("room", room.id)
        add(
            "binary_sensor", "\(object)_occupancy", device,
            [
                "name": "Occupancy", "device_class": "occupancy", "state_topic": state,
                "value_template":
                    "{{ ('ON' if value_json.count > 0 else 'OFF') if value_json is defined else 'None' }}",
                "json_attributes_topic": state,
                "json_attributes_template":
                    "{{ ({'tags': value_json.tags} if value_json is defined else {}) | tojson }}",
            ], to: &list)
        add(
            "sensor", "\(object)_count", device,
            [
                "name": "Tags", "icon": "mdi:account-multiple", "state_class": "measurement", "state_topic": state,
                "value_template": "{{ value_json.count if value_json is defined else '' }}",
            ], to: &list)
    }

    private func describe(gateway: Inventory.Gateway, _ list: inout [Publication]) {
        let object = "gateway-" + TopicIdentifier.identifier(of: gateway.name)
        // The device of an ibeacon-gateway is described by the gateway's own discovery.
        var device = device(object, gateway.name.asEntityName, "ESPresense node", area: gateway.room)
        if gateway.hasCard {
            // The gateway names the device by its `deviceId`. With another name here, the two would replace each other.
            let deviceID = TopicIdentifier.text(of: gateway.name) ?? gateway.name
            var members: [String: JSONValue] = [
                "identifiers": [.string("ibeacon-gateway-" + gateway.name)],
                "name": .string("iBeacon gateway \(deviceID)".asEntityName), "manufacturer": "ibeacon-gateway",
                "model": "iBeacon gateway",
            ]
            members["suggested_area"] = Self.area(gateway.room)
            device = .object(members)
        }
        let health = topic("health", gateway.name)
        add(
            "binary_sensor", "\(object)_listening", device,
            [
                "name": "Listening", "device_class": "running", "entity_category": "diagnostic",
                "state_topic": health,
                "value_template":
                    "{{ ('ON' if value_json.listening else 'OFF') if value_json is defined else 'None' }}",
                "json_attributes_topic": health,
                "json_attributes_template":
                    "{{ ({'problem': value_json.problem} if value_json is defined else {}) | tojson }}",
            ], to: &list)
        guard gateway.hasCard else { return }
        add(
            "sensor", "\(object)_version", device,
            [
                "name": "Version", "icon": "mdi:tag-outline", "entity_category": "diagnostic",
                "state_topic": topic("gateway", gateway.name),
                "value_template": "{{ value_json.version if value_json is defined else 'unknown' }}",
            ], to: &list)
    }
}
