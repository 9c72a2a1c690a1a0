import Base
import Configuration
import Gateway
import JSON
import Runtime
import Shell
import Storage

/// The names that the gateway had before as its `deviceId`. They are stored until their entities are removed, because the
/// broker may be away when the gateway gets another name.
struct FormerDeviceNames: Hashable {
    /// More are forgotten, the earliest first.
    static let most = 8

    private(set) var names: [String] = []

    init() {}

    /// - Parameter bytes: What `bytes` returned; anything else is no name.
    init(bytes: [UInt8]) {
        names = ((try? JSONValue(parsing: bytes))?.array?.compactMap(\.string) ?? []).suffix(Self.most).map(\.self)
    }

    var bytes: [UInt8] { JSONValue.array(names.map { .string($0) }).bytes }

    /// - Parameter name: The name that the gateway had until now.
    mutating func add(_ name: String) {
        remove(name)
        names = (names + [name]).suffix(Self.most)
    }

    mutating func remove(_ name: String) { names.removeAll { $0.hasSameBytes(as: name) } }
}

extension Service {
    private static let formerDevicesKey = "former devices"

    private var ownDevice: String { configuration.trackers[0].deviceID }

    /// Reads the names, and adds the one that the gateway had when it ran last. On a copied card that name belongs to a gateway
    /// that still runs, so hardware that is not known to be the same adds none.
    func restoreFormerDevices(_ snapshot: StoreSnapshot, _ stored: StoredState) {
        formerDevices = FormerDeviceNames(bytes: snapshot.values[ExactString(Self.formerDevicesKey)] ?? [])
        guard stored.isOnSameHardware == true, let served = stored.servedDevice else { return keepOwnDevice() }
        noteFormerDevice(served)
    }

    /// The gateway had this name until now.
    func noteFormerDevice(_ name: String) {
        guard !name.hasSameBytes(as: ownDevice) else { return keepOwnDevice() }
        change { $0.add(name) }
    }

    /// A name that the gateway has again is not former.
    private func keepOwnDevice() { change { _ in } }

    /// Forgets the names whose entities are removed.
    func finishFormerDevices() {
        guard let finished = home?.drainFinished(), !finished.isEmpty else { return }
        change { names in for name in finished { names.remove(name) } }
        for name in finished { log.info("the entities of the former name '\(name)' are removed from Home Assistant") }
        refreshHomeAssistant()
    }

    private func change(_ change: (inout FormerDeviceNames) -> Void) {
        let before = formerDevices
        change(&formerDevices)
        formerDevices.remove(ownDevice)
        guard formerDevices != before else { return }
        app.links.store.submit(.commit([.value(key: Self.formerDevicesKey, formerDevices.bytes)]))
    }
}
