/// The status that a controller returns for a command (Core Specification 5.4, Vol 1, Part F, 1.3).
enum HCIStatus {
    static let success: UInt8 = 0x00
    static let commandDisallowed: UInt8 = 0x0c

    private static let names: [UInt8: String] = [
        0x01: "Unknown HCI Command", 0x03: "Hardware Failure", 0x07: "Memory Capacity Exceeded",
        0x09: "Connection Limit Exceeded", 0x0c: "Command Disallowed", 0x0d: "Rejected due to Limited Resources",
        0x11: "Unsupported Feature or Parameter Value", 0x12: "Invalid HCI Command Parameters",
        0x1a: "Unsupported Remote Feature", 0x1f: "Unspecified Error", 0x20: "Unsupported LL Parameter Value",
        0x30: "Parameter Out Of Mandatory Range", 0x3a: "Controller Busy", 0x3b: "Unacceptable Connection Parameters",
        0x42: "Unknown Advertising Identifier", 0x44: "Operation Cancelled by Host",
    ]

    /// The name in the specification, with the number.
    static func name(_ status: UInt8) -> String {
        let number = "0x" + (status < 16 ? "0" : "") + String(status, radix: 16)
        return names[status].map { "\($0) (\(number))" } ?? "HCI error \(number)"
    }
}
