package import Beacon

/// What a person who waits wants to know.
package enum EnrolmentProgress: Hashable, Sendable {
    /// A pairing that an interrupted enrolment left was removed.
    case removedLeftover(String)
    case waiting
    /// bluetoothd refuses the advertisement for this reason, and the kernel has it.
    case advertisedByKernel(String)
    /// A device has connected that was paired before, or that the user trusts: it is nobody new, and stays.
    case known(String)
    /// The phone with this address was paired with this machine before in another way, and bluetoothd can remove only both
    /// pairings: both stay.
    case pairingStays(String)
    case connected(DeviceAddress)
    /// It has disconnected without pairing.
    case left
    case refused(String)
    case paired
}
