package import Base

/// Who may get the packets of this machine's adapters. A Home Assistant that uses an adapter itself must not hear it a second time
/// through a proxy: two scanners with one source break each other. Such a one runs at this machine.
package struct SubscriberRule: Hashable, Sendable {
    private let machine: MachineAddresses
    private let allowed: Set<InternetAddress>

    /// - Parameter allowed: The addresses that are served all the same.
    package init(_ machine: MachineAddresses, allowed: [String]) {
        self.machine = machine
        self.allowed = Set(allowed.compactMap { InternetAddress($0) })
    }

    /// Why an address may not have packets, as the end of a sentence; nil: it may.
    ///
    /// - Parameter peer: In figures. What is no address is refused.
    package func refusal(of peer: String) -> String? {
        guard let address = InternetAddress(peer) else { return "it has no address in figures" }
        guard !allowed.contains(address) else { return nil }
        return switch machine.place(of: address) {
        case .machine: "it runs on this machine, and may use the same adapter"
        case .container(let bridge): "it runs in a container of this machine (\(bridge)), and may use the same adapter"
        case nil: nil
        }
    }
}
