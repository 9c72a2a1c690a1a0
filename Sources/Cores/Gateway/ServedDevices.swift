import JSON

/// The topics and the devices that this gateway serves, and on which hardware, for its next start and the command line: the next
/// start withdraws what it no longer serves, and knows a copy of another gateway's state.
struct ServedDevices: Sendable {
    /// What tells this hardware from any other, as it is stored; nil: not known.
    private let hardware: [UInt8]?

    init(on hardware: [UInt8]? = nil) { self.hardware = hardware }

    /// Stores what differs from what is stored.
    func stored(_ trackers: Trackers, since stored: StoredState) -> [Gateway.Effect] {
        let (topics, devices) = (Self.bytes(trackers.topics), Self.bytes(trackers.devices))
        var effects: [Gateway.Effect] = []
        if stored.servedTopics != topics { effects.append(.value(key: Gateway.servedTopicsKey, topics)) }
        let hasOtherDevices = stored.servedDevices != devices
        if hasOtherDevices { effects.append(.value(key: Gateway.servedDevicesKey, devices)) }
        // A copied card may run as the first gateway until its settings are changed, so the hardware stays until then.
        return hasOtherDevices || stored.servedHardware == nil ? effects + storedHardware : effects
    }

    /// Stores the topics and the devices.
    func stored(_ trackers: Trackers) -> [Gateway.Effect] {
        [
            .value(key: Gateway.servedTopicsKey, Self.bytes(trackers.topics)),
            .value(key: Gateway.servedDevicesKey, Self.bytes(trackers.devices)),
        ]
    }

    /// Stores the hardware, where it is known.
    var storedHardware: [Gateway.Effect] { hardware.map { [.value(key: Gateway.servedHardwareKey, $0)] } ?? [] }

    private static func bytes(_ texts: [String]) -> [UInt8] { JSONValue.array(texts.map { .string($0) }).bytes }
}
