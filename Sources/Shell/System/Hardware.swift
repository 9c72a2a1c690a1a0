import Base

/// What tells this machine from another one with a copy of its files.
package enum Hardware {
    /// A digest of the serial number of the board, or else of the address of its first network adapter: a copied card does not
    /// have it. nil: this machine shows neither, as in some containers.
    ///
    /// - Parameter root: The directory that has `proc` and `sys`. Only tests have another one than "/".
    package static func digest(root: String = "") -> String? {
        guard let value = KernelFile.firstLine("\(root)/proc/device-tree/serial-number") ?? networkAddress(root) else {
            return nil
        }
        return SHA1.digest(of: value.utf8).prefix(2).map { hexadecimal(UInt64($0), digits: 8) }.joined()
    }

    /// Virtual adapters have no device, and may have another address at each start. So may those with an address of software (an
    /// `addr_assign_type` other than 0, Linux, `Documentation/ABI/testing/sysfs-class-net`).
    static func networkAddress(_ root: String) -> String? {
        let directory = "\(root)/sys/class/net"
        return KernelFile.names(in: directory).sorted().lazy
            .filter { FileAccess.exists("\(directory)/\($0)/device") }
            .filter { KernelFile.firstLine("\(directory)/\($0)/addr_assign_type") == "0" }
            .compactMap { KernelFile.firstLine("\(directory)/\($0)/address") }.first
    }
}
