package import Base
import Glibc

/// The network of this machine as the kernel's files show it, which the sandbox of the unit leaves readable.
///
/// - Parameter root: The directory that has `proc` and `sys`. Only tests have another one than "/".
package enum MachineNetwork {
    /// The addresses at this moment: containers come and go.
    package static func addresses(root: String = "") -> MachineAddresses {
        let net = "\(root)/proc/self/net"
        return MachineAddresses(
            trie: KernelFile.text("\(net)/fib_trie") ?? "", routes: KernelFile.text("\(net)/route") ?? "",
            ipv6: KernelFile.text("\(net)/if_inet6") ?? "", bridges: innerBridges(root))
    }

    /// The bridges that join no network adapter. One that joins an adapter is a part of the network outside.
    private static func innerBridges(_ root: String) -> Set<String> {
        let directory = "\(root)/sys/class/net"
        return Set(
            KernelFile.names(in: directory).filter { name in
                FileAccess.exists("\(directory)/\(name)/bridge")
                    && !reachesAdapter(name, in: directory, depth: 0)
            })
    }

    /// Whether an interface is a network adapter, or is made of one: a bridge, a bond or a VLAN has a link `lower_NAME` to each
    /// interface below it.
    private static func reachesAdapter(_ name: String, in directory: String, depth: Int) -> Bool {
        let interface = "\(directory)/\(name)"
        if FileAccess.exists("\(interface)/device") { return true }
        guard depth < 4 else { return false }
        return KernelFile.names(in: interface).contains { entry in
            entry.hasPrefix("lower_") && reachesAdapter(String(entry.dropFirst(6)), in: directory, depth: depth + 1)
        }
    }

    /// The address of the first network adapter: the same at each start. nil: none is shown, as in a container.
    package static func adapterAddress(root: String = "") -> String? { Hardware.networkAddress(root) }

    /// The identity that the system made for this installation (machine-id(5)).
    package static func machineID(root: String = "") -> String? { KernelFile.firstLine("\(root)/etc/machine-id") }

    /// The IPv4 address from which this machine reaches others, in figures; nil: there is no route to any. Nothing is sent: a
    /// connected datagram socket only chooses its address. The other end is one of documentation (RFC 5737).
    package static func outwardAddress() -> String? {
        guard let other = NetworkAddress(host: "192.0.2.1", port: 9),
            let descriptor = try? other.makeSocket(isDatagram: true)
        else { return nil }
        defer { close(descriptor) }
        guard (try? other.connect(descriptor)) == true, let own = try? NetworkAddress.own(of: descriptor).text else {
            return nil
        }
        return own == "0.0.0.0" || own.isEmpty ? nil : own
    }
}
