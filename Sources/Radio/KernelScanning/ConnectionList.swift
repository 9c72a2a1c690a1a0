package import Beacon
import CBluetooth
import Glibc
import System

/// The connections of an adapter, as the kernel lists them for everybody (`HCIGETCONNLIST`).
package enum ConnectionList {
    /// `_IOR('H', 212, int)`, which Swift does not import.
    private static let request: UInt = 0x8004_48d4
    /// Of one adapter; the kernel allows about 500 on a page of memory.
    private static let most = 64

    /// Whether a program of this machine has sockets for connections, as bluetoothd has from its start to its end. It may run
    /// where its D-Bus cannot be seen, such as outside of a container.
    package static var isServed: Bool {
        // A line for each, below the names of the columns. One is the kernel's own if it has RFCOMM.
        let own = KernelFile.names(in: "/sys/module/rfcomm").isEmpty ? 0 : 1
        return (KernelFile.text("/proc/net/l2cap") ?? "").split(separator: "\n").count > 1 + own
    }

    /// Whether the other side has made the connection with this device.
    ///
    /// - Returns: nil if there is no such connection, or the kernel does not say.
    package static func isIncoming(adapter: UInt16, device: DeviceAddress) -> Bool? {
        guard let bytes = read(adapter) else { return nil }
        for start in entries(bytes) {
            guard DeviceAddress(littleEndian: bytes.span, at: start + 2, isRandom: device.isRandom) == device else {
                continue
            }
            return bytes[start + 9] == 0
        }
        return nil
    }

    /// Whether the adapter has a connection that is established. One that is only being attempted does not count.
    static func hasConnection(adapter: UInt16) -> Bool {
        guard let bytes = read(adapter) else { return false }
        // BT_CONNECTED and BT_CONFIG of the kernel.
        return entries(bytes).contains { [1, 7].contains(bytes.span.littleEndian16(at: $0 + 10)) }
    }

    /// Where the connections stand in the kernel's answer: handle, address, type, direction, state, mode.
    private static func entries(_ bytes: [UInt8]) -> [Int] {
        let count = Int(bytes.span.littleEndian16(at: 2) ?? 0)
        return (0..<min(count, most)).map { 4 + $0 * MemoryLayout<hci_conn_info>.stride }
    }

    /// - Returns: the adapter and the number of connections, then these; nil if the kernel does not say.
    private static func read(_ adapter: UInt16) -> [UInt8]? {
        let type = CInt(SOCK_RAW.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_BLUETOOTH, type, CInt(BTPROTO_HCI))
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        bytes.append(littleEndian: adapter)
        bytes.append(littleEndian: UInt16(most))
        bytes += [UInt8](repeating: 0, count: most * MemoryLayout<hci_conn_info>.stride)
        let result = bytes.withUnsafeMutableBytes { buffer -> CInt in
            guard let start = buffer.baseAddress else { return -1 }
            return ioctl(descriptor, request, start)
        }
        return result == 0 ? bytes : nil
    }
}
