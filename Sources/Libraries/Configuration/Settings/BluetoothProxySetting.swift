import Base
import JSON

/// The row of the Bluetooth proxy in the table of settings.
enum BluetoothProxySetting {
    static let row = Setting.example(
        "bluetoothProxy", .gateway(.live), "{listen: \"*:6053\", keyFile: \"/etc/ibeacon-gateway/proxy-key\"}",
        """
        Home Assistant hears through this gateway all that its radio hears, as through an ESPHome Bluetooth proxy. The
        first line of `keyFile` is the key: 32 bytes in base64, which Home Assistant asks for. `setup` makes one. `listen`
        is for adapter hci0; hci1 has the next port. A program on this computer is refused, because it may use the same
        adapter. `allow` is a list of addresses that are served all the same.
        """,
        read: { reader, configuration in
            configuration.bluetoothProxy = read(&reader, beside: configuration.statusPage)
        },
        shown: { shown($0.bluetoothProxy) }
    )
    .secrets { [$0.bluetoothProxy?.key.inFile] }

    private static func shown(_ proxy: BluetoothProxySettings?) -> JSONValue {
        guard let proxy else { return .null }
        var members: [String: JSONValue] = [
            "listen": .string(proxy.listen.description), "keyFile": .text(proxy.key.path),
        ]
        if !proxy.allowed.isEmpty { members["allow"] = .array(proxy.allowed.map { .string($0) }) }
        return .object(members)
    }

    /// - Parameter page: The address of the status page, which must be another one.
    private static func read(_ reader: inout MemberReader, beside page: ListenAddress?) -> BluetoothProxySettings? {
        guard
            var inner = reader.inner("bluetoothProxy", "{keyFile: '/etc/ibeacon-gateway/proxy-key'}, or null for none")
        else { return nil }
        let allowed = "an address in figures with a port, such as *:6053 or 192.168.1.2:6053"
        let listen = inner.read("listen", allowed) {
            $0.string.flatMap { ListenAddress($0) }.flatMap { $0.isInFigures && $0.port != 0 ? $0 : nil }
        }
        if let page, page.port == (listen ?? .proxy).port {
            inner.complain("listen", "port \(page.port) is that of the status page (http); write another one")
        }
        let settings = BluetoothProxySettings(
            listen: listen ?? .proxy, key: key(&inner), allowed: allowedAddresses(&inner))
        inner.refuseUnknown(known: ["listen", "keyFile", "allow"])
        reader.add(inner.problems)
        return settings
    }

    private static func key(_ reader: inout MemberReader) -> SecretSetting {
        let make = "make one: openssl rand -base64 32"
        guard reader.value("keyFile") != nil else {
            reader.complain("keyFile", "it is missing; without a key nobody could be kept from listening; \(make)")
            return .absent
        }
        let key = reader.secret("key")
        if let secret = key.inFile, let path = key.path, !BluetoothProxySettings.isKey(secret) {
            let bytes = BluetoothProxySettings.keyBytes
            reader.complain(
                "keyFile", "the first line of \(path) is no key, which is \(bytes) bytes in base64; \(make)")
        }
        return key
    }

    private static func allowedAddresses(_ reader: inout MemberReader) -> [String] {
        guard let list = reader.value("allow") else { return [] }
        let allowed = "a list of up to \(BluetoothProxySettings.mostAllowed) addresses such as ['172.30.32.1']"
        let texts = list.array?.compactMap(\.string)
        guard let texts, texts.count == list.array?.count, texts.count <= BluetoothProxySettings.mostAllowed,
            texts.allSatisfy({ InternetAddress($0) != nil })
        else {
            reader.complain("allow", "\(list.shortened) does not fit; write \(allowed)")
            return []
        }
        return texts
    }
}
