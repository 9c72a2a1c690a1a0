import Base
import Beacon
import JSON
import Regions

extension Setting {
    /// `ConfigurationReader` reads `majorMinorBase` first, because waypoints depend on it.
    static let listening: [Setting] = [
        setting(
            "scanner", .gateway(.restart), "\"auto\"",
            """
            The way to Bluetooth: "auto", "mgmt", "hci" or "bluez"; or a recording, `{capture: "FILE", speed: 1}`,
            played once in real time, or `speed` times as fast.
            """,
            read: { if let scanner = $0.scanner() { $1.scanner = scanner } }, shown: { $0.scanner.json }
        ).keep(\.scanner),
        setting(
            "adapter", .gateway(.restart), "\"all\"",
            """
            An adapter such as "hci0" or "00:11:22:33:44:55", or an array of these.
            """,
            read: { if let adapters = $0.adapters() { $1.adapters = adapters } },
            shown: { $0.adapters.isEmpty ? "all" : .array($0.adapters.map { .string($0.description) }) }
        ).keep(\.adapters),
        setting(
            "scanDuty", .gateway(.live), "\"auto\"",
            """
            The share of the time in which the radio listens, from 0.05 to 1. A smaller share leaves the antenna to
            the Wi-Fi that shares it, as on the boards of the Raspberry Pi, and leaves come later. "auto" is 1 at
            present. With "bluez" as `scanner` it has no effect; `ibeacon-gateway doctor` and `ibeacon-gateway status`
            say so.
            """,
            read: { reader, configuration in
                let share: Double?? = reader.read("scanDuty", "a number from 0.05 to 1, or 'auto'") { value in
                    if value == "auto" { return .some(nil) }
                    return value.asNumber.flatMap { (0.05...1).contains($0) ? .some($0) : nil }
                }
                if let share { configuration.scanDuty = share }
            },
            shown: { $0.scanDuty.map { .plain($0) } ?? "auto" }),
        example(
            "battery", .gateway(.live), "{uuid: \"CA271EAE-5FA8-4E80-8F08-2A302A95A959\", minorMask: \"0x00FF\"}",
            """
            Tags that send their battery in bits of their numbers: `{uuid: "UUID", majorMask: "0xFF00", minorMask:
            "0x00FF"}`, or an array of these; `uuidMask: "0xFF"` is for bits of the UUID, counted from its end. The bits are 0
            in everything that is decided and shown, regions included. If they are side by side they are the battery in per
            cent; fewer than seven bits are a share of their largest number. Without `uuid` it holds for all beacons that no
            other mask means. With `uuid` alone, the byte behind the iBeacon of these tags is their battery, of which
            `ibeacon-gateway` warns when it is low.
            """,
            read: { $1.batteryMasks = $0.batteryMasks() }, shown: { $0.batteryMasks.json }),
        setting(
            "majorMinorBase", .both(.live), "\"auto\"",
            """
            How numbers in descriptions are read: "decimal", "hex", or with "auto" by their look.
            """
        ) { .string($0.numberBase.rawValue) },
    ]
}

extension MemberReader {
    fileprivate mutating func scanner() -> ScannerChoice? {
        let allowed = "'auto', 'mgmt', 'hci', 'bluez' or {capture: FILE, speed: 1}"
        if value("scanner")?.object != nil {
            guard var inner = inner("scanner", allowed) else { return nil }
            let file = inner.text("capture")
            if file == nil, inner.problems.isEmpty { inner.complain("capture", "it is missing; name a recording") }
            let speed = inner.number("speed", 0.001...1_000_000) ?? 1
            inner.refuseUnknown(known: ["capture", "speed"])
            add(inner.problems)
            return .capture(file: file ?? "", speed: speed)
        }
        return read("scanner", allowed) { value in ScannerChoice.interfaces.first { .string($0.name) == value } }
    }

    fileprivate mutating func batteryMasks() -> BatteryMasks {
        let allowed = "{uuid: 'UUID', majorMask: '0xFF00', minorMask: '0x00FF'}, or an array of these"
        guard let value = value("battery") else { return BatteryMasks() }
        let elements = value.object.map { [$0] } ?? value.array?.compactMap(\.object) ?? []
        guard !elements.isEmpty, value.array.map({ $0.count == elements.count }) ?? true else {
            complain("battery", "\(value.shortened) does not fit; write \(allowed)")
            return BatteryMasks()
        }
        var masks: [BatteryMask] = []
        for (position, members) in elements.enumerated() {
            let name = value.array == nil ? "battery" : "battery[\(position)]"
            var inner = MemberReader(members, files: files, path: "\(path)\(name).")
            let uuid = inner.read("uuid", "a UUID") { $0.string.flatMap { BeaconUUID($0) } }
            let mask = BatteryMask(
                uuid: uuid, major: inner.mask("majorMask"), minor: inner.mask("minorMask"), uuidBits: inner.uuidMask())
            inner.refuseUnknown(known: ["uuid", "uuidMask", "majorMask", "minorMask"])
            add(inner.problems)
            guard inner.problems.isEmpty else { continue }
            if mask.isEmpty, uuid == nil {
                complain(name, "it names no bits; write majorMask or minorMask, such as minorMask: '0x00FF'")
            } else if uuid == nil, mask.uuidBits != BeaconUUID(high: 0, low: 0) {
                complain("\(name).uuidMask", "it needs uuid, with any battery: the other bits say which tags are meant")
            } else if masks.contains(where: { $0.uuid == uuid }) {
                complain(name, uuid.map { "\($0) has a mask already" } ?? "a mask for all beacons is there already")
            } else {
                masks.append(mask)
            }
        }
        return BatteryMasks(masks)
    }

    /// Bits as a number or as hexadecimal text; 0 if the member is missing.
    private mutating func mask(_ name: String) -> UInt16 {
        read(name, "a number from 0 to 65535, or '0x0000' to '0xFFFF'") { value in
            if let text = value.string, text.lowercased().hasPrefix("0x") {
                return text.utf8.count <= 6 ? UInt16(text.dropFirst(2), radix: 16) : nil
            }
            return value.asInteger.flatMap { UInt16(exactly: $0) }
        } ?? 0
    }

    /// Bits of a UUID, as hexadecimal text from its end, or as a whole UUID; none if the member is missing.
    private mutating func uuidMask() -> BeaconUUID {
        read("uuidMask", "'0xFF' for the last byte, with up to 32 digits, or a whole UUID") { value in
            guard let text = value.string, text.lowercased().hasPrefix("0x") else {
                return value.string.flatMap { BeaconUUID($0) }
            }
            let digits = text.dropFirst(2)
            guard 1...32 ~= digits.utf8.count else { return nil }
            return BeaconUUID(String(repeating: "0", count: 32 - digits.utf8.count) + digits)
        } ?? BeaconUUID(high: 0, low: 0)
    }

    fileprivate mutating func adapters() -> [AdapterName]? {
        read("adapter", "'all', an adapter such as hci0 or 00:11:22:33:44:55, or an array of these") {
            switch $0 {
            case "all": return []
            case .array(let elements):
                let names = elements.compactMap { $0.string.flatMap { AdapterName($0) } }
                return names.count == elements.count ? names : nil
            default: return $0.string.flatMap { AdapterName($0) }.map { [$0] }
            }
        }
    }
}

extension BatteryMasks {
    fileprivate var json: JSONValue {
        guard !all.isEmpty else { return .null }
        return .array(
            all.map { mask in
                var members: [String: JSONValue] = [:]
                if let uuid = mask.uuid { members["uuid"] = .string("\(uuid)") }
                if mask.uuidBits != BeaconUUID(high: 0, low: 0) { members["uuidMask"] = .string("\(mask.uuidBits)") }
                for (name, bits) in [("majorMask", mask.major), ("minorMask", mask.minor)] where bits != 0 {
                    members[name] = .string("0x\(hexadecimal(UInt8(bits >> 8)))\(hexadecimal(UInt8(bits & 0xff)))")
                }
                return .object(members)
            })
    }
}

extension ScannerChoice {
    fileprivate var json: JSONValue {
        switch self {
        case .auto, .mgmt, .hci, .bluez: .string(name)
        case .capture(let file, let speed): ["capture": .string(file), "speed": .plain(speed)]
        }
    }
}
