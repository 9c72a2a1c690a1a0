import CBluetooth
import Glibc
import System

/// A socket of the kernel's Bluetooth subsystem. Owns its descriptor.
final class BluetoothSocket: PacketSocket {
    enum Channel: UInt16 {
        /// HCI packets of one adapter.
        case raw = 0
        /// The management interface.
        case control = 3
    }

    let descriptor: CInt
    private let buffer = PacketBuffer()

    /// - Parameter adapter: the adapter's index, or 0xffff for none in particular.
    init(_ channel: Channel, adapter: UInt16) throws(SystemError) {
        let type = CInt(SOCK_RAW.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        let opened = try systemCall("socket") { socket(AF_BLUETOOTH, type, CInt(BTPROTO_HCI)) }
        var address = sockaddr_hci(
            hci_family: sa_family_t(AF_BLUETOOTH), hci_dev: adapter, hci_channel: channel.rawValue)
        let length = socklen_t(MemoryLayout<sockaddr_hci>.size)
        do throws(SystemError) {
            try systemCall("bind") {
                withUnsafePointer(to: &address) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(opened, $0, length) }
                }
            }
        } catch {
            close(opened)
            throw error
        }
        descriptor = opened
        enlargeReceiveBuffer(opened)
    }

    deinit { close(descriptor) }

    /// Sends one packet. Kernel 6.12 returns 0 from write() on a management socket although the packet was accepted, so
    /// only an error is a failure.
    func send(_ bytes: [UInt8]) throws(SystemError) {
        try systemCall("write") { bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } }
    }

    func set(_ filter: ManagementFilter) { attach(filter.program, to: descriptor) }

    var drops: UInt32 { droppedPackets(descriptor) }

    func receive(batches: Int, _ body: (Span<UInt8>) -> Bool) -> SystemError? {
        buffer.receive(from: descriptor, batches: batches, body)
    }
}

/// Makes room for the reports of ten seconds, 2,000 in each. The kernel drops further reports without an error.
func enlargeReceiveBuffer(_ descriptor: CInt) {
    // The kernel doubles the value and counts 768 bytes for a report: 21,845 reports. It allocates memory only as
    // needed.
    var bytes: CInt = 8 << 20
    let length = socklen_t(MemoryLayout<CInt>.size)
    // SO_RCVBUFFORCE needs CAP_NET_ADMIN and has no limit; SO_RCVBUF is limited to net.core.rmem_max.
    if setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, length) != 0 {
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, length)
    }
}

/// How many packets the kernel had to drop because the socket was full.
///
/// SO_MEMINFO (linux/sock_diag.h) has nine numbers; the last is the number of drops. Bluetooth sockets do not support
/// SO_RXQ_OVFL.
func droppedPackets(_ descriptor: CInt) -> UInt32 {
    var memory = InlineArray<9, UInt32>(repeating: 0)
    var length = socklen_t(MemoryLayout<InlineArray<9, UInt32>>.size)
    // With `&memory` of an InlineArray the compiler of Swift 6.2 aborts.
    let result = withUnsafeMutableBytes(of: &memory) {
        getsockopt(descriptor, SOL_SOCKET, SO_MEMINFO, $0.baseAddress, &length)
    }
    guard result == 0, length >= 36 else { return 0 }
    return memory[8]
}
