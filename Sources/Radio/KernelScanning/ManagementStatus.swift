/// The status that the kernel returns for a command.
package enum ManagementStatus {
    package static let success: UInt8 = 0x00
    package static let failed: UInt8 = 0x03
    package static let notPaired: UInt8 = 0x06
    package static let noResources: UInt8 = 0x07
    package static let alreadyConnected: UInt8 = 0x09
    package static let busy: UInt8 = 0x0a
    package static let invalidParameters: UInt8 = 0x0d
    package static let invalidIndex: UInt8 = 0x11
    package static let rfkilled: UInt8 = 0x12
    package static let alreadyPaired: UInt8 = 0x13
    package static let permissionDenied: UInt8 = 0x14

    /// The name in the interface's description.
    package static func name(_ status: UInt8) -> String {
        let names = [
            "Success", "Unknown Command", "Not Connected", "Failed", "Connect Failed", "Authentication Failed",
            "Not Paired", "No Resources", "Timeout", "Already Connected", "Busy", "Rejected", "Not Supported",
            "Invalid Parameters", "Disconnected", "Not Powered", "Cancelled", "Invalid Index", "RFKilled",
            "Already Paired", "Permission Denied",
        ]
        return Int(status) < names.count ? names[Int(status)] : "status \(status)"
    }

    /// That the kernel refuses a command, in words.
    package static func refusal(of opcode: ManagementCommand.Opcode, _ status: UInt8) -> String {
        "the kernel refuses \(opcode): \(name(status))"
    }
}
