import Beacon

/// One message on its way to a client.
struct ProxyMessage {
    /// The longest payload: with type, length and tag it fills a frame.
    static let longestPayload = 65_535 - headLength - NoiseCipher.tagLength
    private static let headLength = 4

    let type: UInt16
    let payload: [UInt8]

    /// - Parameter payload: At most `longestPayload` bytes.
    init(type: UInt16, payload: [UInt8] = []) {
        self.type = type
        self.payload = payload
    }

    private init(type: UInt16, _ write: (inout ProtobufWriter) -> Void) {
        var writer = ProtobufWriter()
        write(&writer)
        self.init(type: type, payload: writer.bytes)
    }

    /// Type and length, and the payload.
    var plaintext: [UInt8] {
        let count = payload.count
        let head = [
            UInt8(truncatingIfNeeded: type >> 8), UInt8(truncatingIfNeeded: type),
            UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count),
        ]
        return head + payload
    }

    /// Type and payload of a decrypted frame; nil if it is too short. As all programs do, the length within is not believed.
    static func parts(of plaintext: [UInt8]) -> (type: UInt16, payload: ArraySlice<UInt8>)? {
        guard plaintext.count >= headLength else { return nil }
        return (UInt16(plaintext[0]) << 8 | UInt16(plaintext[1]), plaintext[headLength...])
    }

    // MARK: The messages

    static let disconnect = ProxyMessage(type: 5)
    static let disconnected = ProxyMessage(type: 6)
    static let ping = ProxyMessage(type: 7)
    static let pong = ProxyMessage(type: 8)
    static let entitiesDone = ProxyMessage(type: 19)
    /// No connection is free, and there is none at all.
    static let freeConnections = ProxyMessage(type: 81)

    static func hello(_ settings: ProxySettings) -> ProxyMessage {
        ProxyMessage(type: 2) {
            $0.number(1, 1)
            $0.number(2, UInt64(settings.apiMinorVersion))
            $0.text(3, "ibeacon-gateway \(settings.projectVersion)")
            $0.text(4, settings.name)
        }
    }

    /// - Parameter isOffered: Whether the client may have packets. If it may not, there is no scanner for it: Home Assistant makes one
    ///   as soon as one is described, and two with one source break each other.
    static func deviceInfo(_ settings: ProxySettings, isOffered: Bool) -> ProxyMessage {
        ProxyMessage(type: 10) {
            $0.text(2, settings.name)
            $0.text(3, settings.macAddress.description)
            $0.text(4, settings.esphomeVersion)
            $0.text(6, settings.model)
            $0.text(8, settings.projectName)
            $0.text(9, settings.projectVersion)
            $0.text(12, settings.manufacturer)
            $0.text(13, settings.friendlyName)
            if isOffered { $0.number(15, UInt64(settings.features.rawValue)) }
            $0.text(16, settings.area)
            if isOffered { $0.text(18, settings.bluetoothAddress.description) }
            $0.flag(19, true)
            $0.flag(27, settings.dials)
        }
    }

    static func capabilities(_ settings: ProxySettings, isOffered: Bool) -> ProxyMessage {
        guard isOffered else { return ProxyMessage(type: 150) }
        var proxy = ProtobufWriter()
        proxy.number(1, UInt64(settings.features.rawValue))
        proxy.text(2, settings.bluetoothAddress.description)
        return ProxyMessage(type: 150) { $0.element(1, proxy) }
    }

    static func time(_ epochSeconds: UInt32) -> ProxyMessage { ProxyMessage(type: 37) { $0.fixed(1, epochSeconds) } }

    static func scan(_ scan: ProxyScan) -> ProxyMessage {
        ProxyMessage(type: 126) {
            $0.number(1, UInt64(scan.state.rawValue))
            $0.number(2, UInt64(scan.mode.rawValue))
            $0.number(3, UInt64(scan.configuredMode.rawValue))
        }
    }

    // MARK: Refusals of what is not offered

    /// ESPHome's `ESP_GATT_ERROR`: the connection failed.
    private static let connectionFailed: Int32 = 0x85
    /// The error by which ESPHome says that a device is not connected.
    private static let notConnected: Int32 = -1

    static func refused(_ request: ProxyRequest.DeviceRequest, address: UInt64) -> ProxyMessage {
        switch request {
        case .connect, .connectWithCache, .connectWithoutCache:
            ProxyMessage(type: 69) {
                $0.number(1, address)
                $0.plain(4, connectionFailed)
            }
        case .disconnect: ProxyMessage(type: 69) { $0.number(1, address) }
        case .pair: deviceError(85, address)
        case .unpair: deviceError(86, address)
        case .clearCache: deviceError(88, address)
        }
    }

    static func refusedAttribute(address: UInt64, handle: UInt32) -> ProxyMessage {
        ProxyMessage(type: 82) {
            $0.number(1, address)
            $0.number(2, UInt64(handle))
            $0.plain(3, notConnected)
        }
    }

    static func refusedParameters(address: UInt64) -> ProxyMessage {
        ProxyMessage(type: 146) {
            $0.number(1, address)
            $0.plain(2, notConnected)
        }
    }

    /// Neither paired nor done, and why.
    private static func deviceError(_ type: UInt16, _ address: UInt64) -> ProxyMessage {
        ProxyMessage(type: type) {
            $0.number(1, address)
            $0.plain(3, notConnected)
        }
    }
}
