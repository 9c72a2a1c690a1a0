import Base
import Beacon
import JSON
import SiteProtocol
import YAML

/// The tags of the section `bluetoothLowEnergy`, and its other members.
struct RoomAssistantTags {
    private(set) var report = RoomAssistantReport()
    /// For the rooms service.
    private(set) var descriptions: [String] = []
    /// The descriptions of tags that are no iBeacons: a gateway listens for them only if it has a region.
    private(set) var addresses: [String] = []

    /// Members that need nothing here, with the reason.
    private static let needlessMembers = [
        "updateFrequency": "a gateway reports each second",
        "rssiFactor": "the rooms service learns the level of each gateway",
        "kalmanProcessNoise": "the rooms service has a rule of its own: Docs/rooms.md",
        "kalmanMeasurementNoise": "the rooms service has a rule of its own: Docs/rooms.md",
        "minDiscoveryLogRssi": "beacons that no tag names are not logged; scan shows them",
        "timeout": "the silence after which a tag is away is learned from its own rhythm",
        "onlyIBeacon": "only what a tag names counts",
        "instanceBeaconEnabled": "it is for the companion app, which is not heard",
        "instanceBeaconMajor": "it is for the companion app, which is not heard",
        "instanceBeaconMinor": "it is for the companion app, which is not heard",
    ]

    init(_ members: [YAMLNode.Member]) {
        let path = "bluetoothLowEnergy"
        func node(_ key: String) -> YAMLNode? { members.first { $0.key == key }?.value }
        let isPattern = ["allowlistRegex", "whitelistRegex"].contains { node($0)?.boolean == true }
        let overrides = readOverrides(node("tagOverrides"), "\(path).tagOverrides")
        let battery = readMask(node("batteryMask"), "\(path).batteryMask")
        var entries: [(text: String, path: String, line: Int)] = []
        for key in ["allowlist", "whitelist"] { entries += readList(node(key), "\(path).\(key)") }
        readTags(entries, isPattern: isPattern, overrides)
        readMasks(battery.map { ($0, node("batteryMask")?.line ?? 0) }, overrides, path)
        for member in members {
            let (key, line) = (member.key, member.value.line)
            let path = "\(path).\(key.shortened)"
            switch key {
            case "allowlist", "whitelist", "allowlistRegex", "whitelistRegex", "tagOverrides", "batteryMask": break
            case "denylist", "blacklist":
                guard member.value.sequence?.isEmpty != true else { continue }
                report.add(entries.isEmpty ? .lost : .needless, path, line, "only tags that are named are followed")
            case "denylistRegex", "blacklistRegex":
                report.add(.needless, path, line, "only tags that are named are followed")
            case "hciDeviceId": readAdapter(member.value, path)
            case "majorMask", "minorMask": readIDMask(member, path, battery)
            case "processIBeacon" where member.value.boolean == true:
                report.add(.needless, path, line, "it is always so")
            case "processIBeacon":
                report.add(.lost, path, line, "an iBeacon is always named by its UUID, major and minor")
            case "maxDistance":
                report.add(
                    .lost, path, line,
                    "the rooms service compares levels; for a region of a gateway: enterRSSI and leaveRSSI")
            case let key:
                guard let reason = Self.needlessMembers[key] else {
                    report.add(.lost, path, line, "room-assistant has no such member")
                    continue
                }
                report.add(.needless, path, line, reason)
            }
        }
    }

    private mutating func readAdapter(_ node: YAMLNode, _ path: String) {
        guard let number = node.integer else { return report.add(.lost, path, node.line, "it is not a number") }
        report.set("adapter", .string("hci\(number)"), for: path, node.line)
    }

    /// Bits that change within an id are those of a battery, as far as they can be translated.
    private mutating func readIDMask(_ member: YAMLNode.Member, _ path: String, _ battery: UInt32?) {
        let line = member.value.line
        guard let mask = member.value.integer.flatMap({ UInt16(exactly: $0) }) else {
            return report.add(.lost, path, line, "it is not a number from 0 to 0xffff")
        }
        let cleared = battery.map { member.key == "majorMask" ? UInt16($0 >> 16) : UInt16($0 & 0xffff) } ?? 0
        guard ~mask & ~cleared == 0 else {
            return report.add(.lost, path, line, "name the tag without this number: 'Name:UUID', or 'Name:UUID:major'")
        }
        report.add(
            .needless, path, line, cleared == 0 ? "it is the default" : "the bits of a battery count for nothing else")
    }

    private mutating func readList(_ node: YAMLNode?, _ path: String) -> [(text: String, path: String, line: Int)] {
        guard let node, !node.isNull else { return [] }
        guard let elements = node.sequence else {
            report.add(.lost, path, node.line, "it is not a list")
            return []
        }
        var entries: [(text: String, path: String, line: Int)] = []
        for (index, element) in elements.enumerated() {
            let path = "\(path)[\(index)]"
            if let text = element.text {
                entries.append((text, path, element.line))
            } else {
                report.add(.lost, path, element.line, "it is not a text")
            }
        }
        return entries
    }

    private mutating func readTags(
        _ entries: [(text: String, path: String, line: Int)], isPattern: Bool,
        _ overrides: [String: RoomAssistantOverride]
    ) {
        var names: Set<String> = []
        var seen: Set<RoomAssistantTag> = []
        for (text, path, line) in entries {
            guard let tag = RoomAssistantTag(text, isPattern: isPattern) else {
                let kind = isPattern ? "a regular expression of this form" : "an id such as UUID-1-2 or 7750fb4dab70"
                report.add(.lost, path, line, "'\(text.shortened)' is not \(kind); see: scan --all")
                continue
            }
            guard tag != .app else {
                report.add(.lost, path, line, "the companion app cannot be heard; for a phone: phones add")
                continue
            }
            guard seen.insert(tag).inserted else {
                report.add(.needless, path, line, "it is there twice")
                continue
            }
            let name = Self.unique(overrides[text.lowercased()]?.name ?? tag.standardName, &names)
            let description = "\(name):\(tag.description)"
            if let problem = RoomAssistantReport.problem(of: "rooms", ["tags": [.string(description)]]) {
                report.add(.lost, path, line, problem)
                continue
            }
            descriptions.append(description)
            if case .address = tag { addresses.append(description) }
            report.add(
                .translated, path, line, "the tag '\(description)'\(tag.hasZero ? ", where 0 is any number" : "")")
        }
    }

    /// A name that a description can have, and whose id no other tag has.
    private static func unique(_ text: String, _ names: inout Set<String>) -> String {
        // A colon ends a name; a sign before it and bars in it have a meaning for OwnTracks.
        let words = PrintableText.line(text).split { ":|".contains($0) || $0.isWhitespace }.joined(separator: " ")
        let trimmed = String(words.drop { "+- ".contains($0) }.prefix(60))
        let first = trimmed.isEmpty ? "Tag" : trimmed
        var name = first
        var number = 2
        while !names.insert(RoomName.id(of: name)).inserted {
            name = "\(first) \(number)"
            number += 1
        }
        return name
    }

    private mutating func readOverrides(_ node: YAMLNode?, _ path: String) -> [String: RoomAssistantOverride] {
        guard let node, !node.isNull else { return [:] }
        guard let tags = node.mapping else {
            report.add(.lost, path, node.line, "it has no members")
            return [:]
        }
        var overrides: [String: RoomAssistantOverride] = [:]
        for tag in tags {
            let path = "\(path).\(tag.key.shortened)"
            guard let members = tag.value.mapping else {
                report.add(.lost, path, tag.value.line, "it has no members")
                continue
            }
            var override = RoomAssistantOverride()
            for member in members { read(member, into: &override, "\(path).\(member.key.shortened)") }
            overrides[tag.key.lowercased()] = override
        }
        return overrides
    }

    private mutating func read(_ member: YAMLNode.Member, into override: inout RoomAssistantOverride, _ path: String) {
        let line = member.value.line
        switch member.key {
        case "name":
            guard let name = member.value.text else { return report.add(.lost, path, line, "it is not a text") }
            override.name = name
            report.add(.translated, path, line, "the name of the tag")
        case "id": report.add(.needless, path, line, "the id of a tag follows from its name")
        case "measuredPower": report.add(.needless, path, line, "the rooms service learns the level of each gateway")
        case "batteryMask":
            guard let mask = readMask(member.value, path), mask != 0 else { return }
            override.batteryMask = (mask, line, path)
        default: report.add(.lost, path, line, "room-assistant has no such member")
        }
    }

    private mutating func readMask(_ node: YAMLNode?, _ path: String) -> UInt32? {
        guard let node, !node.isNull else { return nil }
        guard let mask = node.integer.flatMap({ UInt32(exactly: $0) }) else {
            report.add(.lost, path, node.line, "it is not a number from 0 to 0xffffffff")
            return nil
        }
        return mask
    }

    /// The masks of all beacons and of single tags. One here is for a whole UUID.
    private mutating func readMasks(
        _ common: (mask: UInt32, line: Int)?, _ overrides: [String: RoomAssistantOverride], _ path: String
    ) {
        var masks: [(uuid: BeaconUUID?, mask: UInt32)] = []
        if let common, common.mask != 0 {
            masks.append((nil, common.mask))
            report.set("battery", Self.battery(masks), for: "\(path).batteryMask", common.line)
        }
        for (id, override) in overrides.sorted(by: {
            ($0.value.batteryMask?.line ?? 0) < ($1.value.batteryMask?.line ?? 0)
        }) {
            guard let (mask, line, path) = override.batteryMask else { continue }
            guard case .beacon(let uuid, _, _)? = RoomAssistantTag(id, isPattern: false) else {
                report.add(.lost, path, line, "a battery in major and minor is one of an iBeacon: UUID-1-2")
                continue
            }
            if let other = masks.first(where: { $0.uuid == uuid }) {
                let isSame = other.mask == mask
                report.add(
                    isSame ? .needless : .lost, path, line,
                    isSame ? "it is there already" : "a UUID has one mask, that of another tag")
                continue
            }
            let more = masks + [(uuid, mask)]
            if report.set("battery", Self.battery(more), for: path, line) { masks = more }
        }
    }

    private static func battery(_ masks: [(uuid: BeaconUUID?, mask: UInt32)]) -> JSONValue {
        .array(
            masks.map { uuid, mask in
                var members: [String: JSONValue] = [:]
                if let uuid { members["uuid"] = .string("\(uuid)") }
                for (name, bits) in [("majorMask", mask >> 16), ("minorMask", mask & 0xffff)] where bits != 0 {
                    members[name] = .string("0x" + hexadecimal(UInt64(bits), digits: 4, isUppercase: true))
                }
                return .object(members)
            })
    }
}
