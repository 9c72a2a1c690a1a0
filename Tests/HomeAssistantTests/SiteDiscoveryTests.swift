import Base
import Health
import JSON
import SiteCore
import Testing

@Suite struct SiteDiscoveryTests {
    private static let discovery = SiteDiscovery(
        SiteDiscovery.Settings(prefix: "homeassistant", site: "home", version: "1.0.0"))

    private func inventory() -> SiteDiscovery.Inventory {
        var inventory = SiteDiscovery.Inventory(instance: "attic")
        inventory.tags = [.init(id: "jane", name: "Jane")]
        inventory.rooms = [.init(id: "living-room", name: "Living room")]
        inventory.gateways = [
            .init(name: "kitchen-pi", hasCard: true, room: "Kitchen"),
            .init(name: "esp hall", hasCard: false, room: "Hall"),
        ]
        return inventory
    }

    private func described() throws -> [String: JSONValue] {
        let messages = Self.discovery.descriptions(of: inventory())
        let pairs = try messages.map { ($0.topic, try JSONValue(parsing: $0.payload)) }
        return Dictionary(pairs) { first, _ in first }
    }

    @Test func `A tag has a room, a home state and a confidence, a room is occupied by a count, a gateway listens`()
        throws
    {
        #expect(
            try described().keys.sorted() == [
                "homeassistant/binary_sensor/ibeacon-rooms-home/gateway-esp_20hall_listening/config",
                "homeassistant/binary_sensor/ibeacon-rooms-home/gateway-kitchen-pi_listening/config",
                "homeassistant/binary_sensor/ibeacon-rooms-home/room-living-room_occupancy/config",
                "homeassistant/binary_sensor/ibeacon-rooms-home/service/config",
                "homeassistant/device_tracker/ibeacon-rooms-home/tag-jane/config",
                "homeassistant/sensor/ibeacon-rooms-home/gateway-kitchen-pi_version/config",
                "homeassistant/sensor/ibeacon-rooms-home/room-living-room_count/config",
                "homeassistant/sensor/ibeacon-rooms-home/tag-jane_confidence/config",
                "homeassistant/sensor/ibeacon-rooms-home/tag-jane_last_heard/config",
                "homeassistant/sensor/ibeacon-rooms-home/tag-jane_last_room/config",
                "homeassistant/sensor/ibeacon-rooms-home/tag-jane_room/config",
            ])
    }

    @Test func `Rooms and gateways are created in the area of their room; a tag moves, and has none`() throws {
        let areas = try described().mapValues { $0["device"]?["suggested_area"]?.string }
        let byObject = Dictionary(areas.map { ($0.key.split(separator: "/")[3], $0.value) }) { first, _ in first }
        #expect(
            byObject == [
                "service": nil, "tag-jane": nil, "tag-jane_room": nil, "tag-jane_confidence": nil,
                "tag-jane_last_room": nil, "tag-jane_last_heard": nil,
                "room-living-room_occupancy": "Living room", "room-living-room_count": "Living room",
                "gateway-kitchen-pi_listening": "Kitchen", "gateway-kitchen-pi_version": "Kitchen",
                "gateway-esp_20hall_listening": "Hall",
            ])
    }

    @Test func `Each entity shows the site's own retained topic`() throws {
        let topics = try described().mapValues { $0["state_topic"]?.string }
        let states = Dictionary(
            topics.map { ($0.key.split(separator: "/")[3], $0.value ?? "") }, uniquingKeysWith: { first, _ in first })
        #expect(
            states == [
                "service": "ibeacon-rooms/home/service/attic",
                "tag-jane": "ibeacon-rooms/home/tag/jane",
                "tag-jane_room": "ibeacon-rooms/home/tag/jane",
                "tag-jane_confidence": "ibeacon-rooms/home/tag/jane",
                "tag-jane_last_room": "ibeacon-rooms/home/tag/jane",
                "tag-jane_last_heard": "ibeacon-rooms/home/tag/jane",
                "room-living-room_occupancy": "ibeacon-rooms/home/room/living-room",
                "room-living-room_count": "ibeacon-rooms/home/room/living-room",
                "gateway-kitchen-pi_listening": "ibeacon-rooms/home/health/kitchen-pi",
                "gateway-kitchen-pi_version": "ibeacon-rooms/home/gateway/kitchen-pi",
                "gateway-esp_20hall_listening": "ibeacon-rooms/home/health/esp hall",
            ])
    }

    @Test func `The room of a tag is described for Home Assistant in this form`() throws {
        let room = try #require(
            Self.discovery.descriptions(of: inventory()).first { $0.topic.hasSuffix("/tag-jane_room/config") })
        #expect(
            room.text == """
                {"device":{"identifiers":["ibeacon-rooms-home_tag-jane"],"manufacturer":"ibeacon-gateway",\
                "model":"Tag","name":"Jane","via_device":"ibeacon-rooms-home"},"icon":"mdi:map-marker",\
                "json_attributes_template":"{{ ({'room_id': value_json.room, 'since': value_json.since | \
                timestamp_custom('%Y-%m-%dT%H:%M:%S+00:00', false)} if value_json is defined else {}) | tojson }}",\
                "json_attributes_topic":"ibeacon-rooms/home/tag/jane","name":"Room",\
                "origin":{"name":"ibeacon-gateway","sw_version":"1.0.0"},\
                "state_topic":"ibeacon-rooms/home/tag/jane","unique_id":"ibeacon-rooms-home_tag-jane_room",\
                "value_template":"{{ (value_json.roomName or ('unknown' if value_json.home else 'not_home')) \
                if value_json is defined else 'unknown' }}"}
                """)
    }

    @Test(arguments: [
        ("device_tracker/ibeacon-rooms-home/tag-jane", "home"),
        ("binary_sensor/ibeacon-rooms-home/room-living-room_occupancy", "ON"),
        ("binary_sensor/ibeacon-rooms-home/gateway-kitchen-pi_listening", "ON"),
    ])
    func `A state that was emptied is unknown to Home Assistant, and no leave`(entity: String, word: String) throws {
        let template = try #require(try described()["homeassistant/\(entity)/config"]?["value_template"]?.string)
        #expect(template.hasPrefix("{{ ('\(word)' if value_json."))
        #expect(template.hasSuffix(" if value_json is defined else 'None' }}"))
    }

    @Test func `The last place of a tag is disabled until a user enables it, and nothing else is`() throws {
        let disabled = try described().filter { $0.value["enabled_by_default"] == false }
        #expect(
            disabled.keys.map { $0.split(separator: "/")[3] }.sorted() == ["tag-jane_last_heard", "tag-jane_last_room"])
    }

    @Test func `The device of a gateway is the one that the gateway's own discovery describes`() throws {
        let version = try #require(
            try described()["homeassistant/sensor/ibeacon-rooms-home/gateway-kitchen-pi_version/config"])
        #expect(version["device"]?["identifiers"]?.array == ["ibeacon-gateway-kitchen-pi"])
        #expect(version["device"]?["name"] == "iBeacon gateway kitchen-pi")
    }

    @Test(arguments: [
        ("pi_5fkitchen", "pi_kitchen"), ("K_c3_bcche", "Küche"), ("pi", "pi"), ("pi_kitchen", "pi_kitchen"),
        ("pi_5Fkitchen", "pi_5Fkitchen"), ("a__0123456789abcdef", "a__0123456789abcdef"), ("pi_5", "pi_5"),
    ])
    func `The device of a gateway has the name that the gateway's own discovery gives it: that of its deviceId`(
        topic: String, name: String
    ) throws {
        var inventory = SiteDiscovery.Inventory(instance: "attic")
        inventory.gateways = [.init(name: topic, hasCard: true, room: "Kitchen")]
        let messages = Self.discovery.descriptions(of: inventory).filter { $0.topic.contains("/gateway-") }
        for message in messages {
            let device = try JSONValue(parsing: message.payload)["device"]
            #expect(device?["identifiers"]?.array == [.string("ibeacon-gateway-\(topic)")])
            #expect(device?["name"]?.string == "iBeacon gateway \(name)")
        }
        #expect(messages.count == 2)
    }

    @Test func `Rooms and tags have no availability, so that a restart of the service starts no automation`() throws {
        #expect(try described().values.allSatisfy { $0["availability"] == nil })
    }

    @Test func `Every description has a unique id, a device and a topic that Home Assistant takes`() throws {
        let all = try described()
        #expect(Set(all.values.compactMap { $0["unique_id"]?.string }).count == all.count)
        for (topic, config) in all {
            #expect(config["device"]?["identifiers"]?.array?.isEmpty == false)
            let isTaken = topic.split(separator: "/")[2...3].allSatisfy {
                $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-".contains($0)) }
            }
            #expect(isTaken, "\(topic)")
        }
    }

    @Test func `Of more than 200 tags the first become entities`() {
        var inventory = SiteDiscovery.Inventory(instance: "attic")
        inventory.tags = (0..<1_000).map { .init(id: "t\($0)", name: "T\($0)") }
        #expect(Self.discovery.descriptions(of: inventory).count == 1 + 5 * SiteDiscovery.tagLimit)
    }

    @Test func `What was removed while Home Assistant was off is shown to it once more and removed again`() {
        var discovery = Self.discovery
        let topic = "homeassistant/sensor/ibeacon-rooms-home/tag-jane_room/config"
        #expect(discovery.isDescription(topic))
        #expect(!discovery.isDescription("homeassistant/sensor/ibeacon-gateway-hall/x/config"))
        discovery.recordRemoval(of: topic, payload: "{}")
        #expect(discovery.messagesDue(at: .zero).isEmpty)
        #expect(discovery.messagesAtBirth(at: .zero) == [.homeAssistant(topic, "{}")])
        let later = MonotonicInstant.zero.advanced(by: RemovedDescriptions.delay)
        #expect(discovery.messagesDue(at: later) == [.homeAssistant(topic, "")])
    }
}
