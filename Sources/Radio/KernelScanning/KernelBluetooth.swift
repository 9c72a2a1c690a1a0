import Scanning
import System

/// The kernel's Bluetooth as the scanners use it. In the program it is the kernel; in unit tests, a script.
protocol KernelBluetooth: AnyObject {
    /// Opens the management interface.
    ///
    /// - Throws: if the kernel has no Bluetooth.
    func openManagement() throws(ScannerError) -> any PacketSocket
    /// Opens a raw HCI socket of one adapter.
    ///
    /// - Throws: if there is no such adapter, no descriptor is left, or this process may not.
    func openHCI(_ index: UInt16) throws(SystemError) -> any HCIPacketSocket
    /// Whether rfkill forbids the adapter's radio.
    func isBlocked(_ index: UInt16) -> Bool
    /// Whether the kernel has this controller, in whatever state.
    func hasDevice(_ index: UInt16) -> Bool
    /// Why no selected controller can be used; nil if one can.
    func absence(_ selection: AdapterSelection) -> ScanProblem?
    /// Whether an adapter has a connection.
    func hasConnection(_ index: UInt16) -> Bool
    /// Whether this process holds a capability.
    func holds(_ capability: Capability) -> Bool
}
