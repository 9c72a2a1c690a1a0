import Scanning
import System

/// The kernel that the program runs on.
final class RunningKernel: KernelBluetooth {
    func openManagement() throws(ScannerError) -> any PacketSocket {
        do {
            return try BluetoothSocket(.control, adapter: ManagementCommand.noIndex)
        } catch {
            throw ScannerError(.unavailable, "\(ScanProblem.socketRefusal(error))")
        }
    }

    func openHCI(_ index: UInt16) throws(SystemError) -> any HCIPacketSocket { try HCISocket(index) }
    func isBlocked(_ index: UInt16) -> Bool { RadioSwitch.isBlocked(index) }
    func hasDevice(_ index: UInt16) -> Bool { RadioSwitch.hasDevice(index) }
    func absence(_ selection: AdapterSelection) -> ScanProblem? { RadioDiagnosis.absence(selection) }
    func hasConnection(_ index: UInt16) -> Bool { ConnectionList.hasConnection(adapter: index) }
    func holds(_ capability: Capability) -> Bool { capability.isHeld }
}
