import Scanning
import System

/// The kernel that the program runs on.
final class RunningKernel: KernelBluetooth {
    func openManagement() throws(ScannerError) -> any PacketSocket {
        do {
            return try BluetoothSocket(.control, adapter: ManagementCommand.noIndex)
        } catch {
            throw ScannerError(
                .unavailable,
                "this kernel has no Bluetooth (\(error.message)); load it: sudo modprobe bluetooth")
        }
    }

    func openHCI(_ index: UInt16) -> (any HCIPacketSocket)? { HCISocket(index) }
    func isBlocked(_ index: UInt16) -> Bool { RadioSwitch.isBlocked(index) }
    func holds(_ capability: Capability) -> Bool { capability.isHeld }
}
