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
        let type = CInt(SOCK_RAW.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_BLUETOOTH, type, CInt(BTPROTO_HCI))
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // The adapter and the room for connections, then these: handle, address, type, direction, state, mode.
        let (header, entry) = (4, MemoryLayout<hci_conn_info>.stride)
        var bytes: [UInt8] = []
        bytes.append(littleEndian: adapter)
        bytes.append(littleEndian: UInt16(most))
        bytes += [UInt8](repeating: 0, count: most * entry)
        let result = bytes.withUnsafeMutableBytes { buffer -> CInt in
            guard let start = buffer.baseAddress else { return -1 }
            return ioctl(descriptor, request, start)
        }
        guard result == 0, let count = bytes.span.littleEndian16(at: 2) else { return nil }
        for start in (0..<min(Int(count), most)).map({ header + $0 * entry }) {
            guard DeviceAddress(littleEndian: bytes.span, at: start + 2, isRandom: device.isRandom) == device else {
                continue
            }
            return bytes[start + 9] == 0
        }
        return nil
    }
}
