import Base
import Beacon
import DBus

/// The adapters and devices of bluetoothd, as its messages describe them.
struct BluetoothdObjects {
    struct Adapter {
        let path: String
        var address: DeviceAddress?
        var isPowered = false
        var isPairable = true
        var canAdvertise = false
        var hasServices = false

        /// 0 of `/org/bluez/hci0`.
        var index: UInt16? {
            let name = path.split(separator: "/").last ?? ""
            return name.hasPrefix("hci") ? UInt16(name.dropFirst(3)) : nil
        }
    }

    struct Device {
        let path: String
        /// The identity address, once it is known.
        var address: DeviceAddress?
        var isConnected = false
        var isPaired = false
        /// The user has said so. An enrolment never does.
        var isTrusted = false

        /// `/org/bluez/hci0/dev_…` belongs to `/org/bluez/hci0`.
        var adapter: String { path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "" }
    }

    private(set) var adapters: [String: Adapter] = [:]
    private(set) var devices: [String: Device] = [:]

    /// The address in the name of a device's object, under which bluetoothd saw it first.
    static func address(in path: String) -> DeviceAddress? {
        guard let name = path.split(separator: "/").last, name.hasPrefix("dev_") else { return nil }
        return DeviceAddress(name.dropFirst(4), separator: "_", isRandom: true)
    }

    /// Takes the answer to GetManagedObjects.
    mutating func take(objects reader: BusReader) {
        reader.forEach { element in
            guard var object = element.inside, let path = object.string else { return }
            object.next()
            add(path, object)
        }
    }

    /// Takes the interfaces of an object.
    mutating func add(_ path: String, _ interfaces: BusReader) {
        interfaces.forEachEntry { update(path, $0, $1) }
    }

    /// Takes properties of one interface.
    mutating func update(_ path: String, _ interface: String, _ properties: BusReader) {
        switch interface {
        case "org.bluez.Adapter1": updateAdapter(path) { $0.update(properties) }
        case "org.bluez.LEAdvertisingManager1": updateAdapter(path) { $0.canAdvertise = true }
        case "org.bluez.GattManager1": updateAdapter(path) { $0.hasServices = true }
        case "org.bluez.Device1":
            var device = devices[path] ?? Device(path: path)
            device.update(properties)
            devices[path] = device
        default: break
        }
    }

    mutating func remove(_ path: String, _ interface: String) {
        switch interface {
        case "org.bluez.Adapter1": adapters[path] = nil
        case "org.bluez.Device1": devices[path] = nil
        default: break
        }
    }

    private mutating func updateAdapter(_ path: String, _ change: (inout Adapter) -> Void) {
        var adapter = adapters[path] ?? Adapter(path: path)
        change(&adapter)
        adapters[path] = adapter
    }
}

extension BluetoothdObjects.Adapter {
    mutating func update(_ properties: BusReader) {
        properties.forEachEntry { name, value in
            switch name {
            case "Address":
                address = value.string.flatMap { DeviceAddress($0, separator: ":", isRandom: false) } ?? address
            case "Powered": isPowered = value.boolean ?? isPowered
            case "Pairable": isPairable = value.boolean ?? isPairable
            default: break
            }
        }
    }
}

extension BluetoothdObjects.Device {
    mutating func update(_ properties: BusReader) {
        var isRandom = address?.isRandom ?? false
        var text = address.map { "\($0)" }
        properties.forEachEntry { name, value in
            switch name {
            case "Address": text = value.string ?? text
            case "AddressType": isRandom = value.string.map { $0 == "random" } ?? isRandom
            case "Connected": isConnected = value.boolean ?? isConnected
            case "Paired": isPaired = value.boolean ?? isPaired
            case "Trusted": isTrusted = value.boolean ?? isTrusted
            default: break
            }
        }
        address = text.flatMap { DeviceAddress($0, separator: ":", isRandom: isRandom) }
    }
}
