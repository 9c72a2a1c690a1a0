import CBluetooth
import Glibc
import System

/// A raw HCI socket of one adapter, made and used by libbluetooth. Owns its descriptor.
final class HCISocket: HCIPacketSocket {
    let descriptor: CInt
    private let buffer = PacketBuffer()

    /// - Throws: if there is no such adapter, no descriptor is left, or this process may not.
    init(_ index: UInt16) throws(SystemError) {
        descriptor = try systemCall("hci_open_dev") { hci_open_dev(CInt(index)) }
        let opened = descriptor
        _ = fcntl(opened, F_SETFL, fcntl(opened, F_GETFL) | O_NONBLOCK)
        enlargeReceiveBuffer(opened)
    }

    deinit { hci_close_dev(descriptor) }

    var drops: UInt32 { droppedPackets(descriptor) }

    func listen(to events: [Int32]) throws(SystemError) {
        var filter = hci_filter()
        hci_filter_clear(&filter)
        hci_filter_set_ptype(HCI_EVENT_PKT, &filter)
        for event in events { hci_filter_set_event(event, &filter) }
        let length = socklen_t(MemoryLayout<hci_filter>.size)
        try systemCall("setsockopt") { setsockopt(descriptor, SOL_HCI, HCI_FILTER, &filter, length) }
    }

    func listen(_ wanted: HCIFilter) throws(SystemError) {
        var filter = hci_filter()
        hci_filter_clear(&filter)
        for type in wanted.packetTypes { hci_filter_set_ptype(type, &filter) }
        for event in wanted.events { hci_filter_set_event(event, &filter) }
        let length = socklen_t(MemoryLayout<hci_filter>.size)
        try systemCall("setsockopt") { setsockopt(descriptor, SOL_HCI, HCI_FILTER, &filter, length) }
        attach(wanted.program, to: descriptor)
    }

    func command(group: Int32, command: Int32, parameters: [UInt8]) throws(SystemError) {
        var parameters = parameters
        try systemCall("hci_send_cmd") {
            parameters.withUnsafeMutableBytes {
                hci_send_cmd(
                    descriptor, UInt16(group), UInt16(command), UInt8(truncatingIfNeeded: $0.count), $0.baseAddress)
            }
        }
    }

    func receive(batches: Int, _ body: (Span<UInt8>) -> Bool) -> SystemError? {
        buffer.receive(from: descriptor, batches: batches, body)
    }
}
