// A whole session with a broker: the bytes that it sends pass the filter and are read by libmosquitto, as in the service.
import Base
import Glibc

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
    guard let first = input.first else { return 0 }
    var settings = BrokerSettings(hosts: ["127.0.0.1"], port: listener.port, clientID: "gateway")
    // Two of three inputs speak MQTT 5.
    settings.protocolLevel = first % 3 == 0 ? .v3_1_1 : .v5
    settings.limits.largestPacket = 4096
    do throws(BrokerFailure) {
        var client = try Client(settings: settings)
        try converse(&client, input.dropFirst(), chunk: first >= 128 ? Int(first & 0xf) + 1 : input.count)
    } catch {
        require(!error.description.isEmpty)
    }
    return 0
}

/// Connects, subscribes and publishes with each QoS, then reads what the broker says.
private func converse(
    _ client: inout Client, _ input: ArraySlice<UInt8>, chunk: Int
) throws(BrokerFailure) {
    try client.connect(to: "127.0.0.1")
    let broker = accept(listener.descriptor, nil, nil)
    require(broker >= 0)
    defer { close(broker) }
    _ = client.subscribe("owntracks/+/+/cmd")
    for qos in [QoS.atMostOnce, .atLeastOnce, .exactlyOnce] {
        _ = client.publish(Publication(.other, topic: "owntracks/a/b", payload: [0x31], qos: qos))
    }
    var rest = input
    while !rest.isEmpty {
        let part = Array(rest.prefix(chunk))
        // The client may have closed the connection at what it read before.
        guard send(broker, part, part.count, Int32(MSG_NOSIGNAL)) == part.count else { return }
        rest = rest.dropFirst(part.count)
        _ = try client.receive()
        try client.flush()
        var answer = [UInt8](repeating: 0, count: 8192)
        _ = recv(broker, &answer, answer.count, Int32(MSG_DONTWAIT))
    }
    try client.tick()
}

private struct Listener {
    let descriptor: Int32
    let port: UInt16

    init() {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isListening = withUnsafeMutablePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, length) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        require(isListening)
        port = UInt16(bigEndian: address.sin_port)
    }
}

private let listener = Listener()
