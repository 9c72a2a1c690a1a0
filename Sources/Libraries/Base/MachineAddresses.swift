/// Where an address is: at this machine, in one of its containers, or elsewhere.
///
/// A process may not ask the kernel over netlink in the sandbox of the unit, so this is read from the kernel's texts.
package struct MachineAddresses: Hashable, Sendable {
    /// The network of a bridge that joins no network adapter, as container programs make them.
    private struct Network: Hashable {
        let address: InternetAddress
        let length: Int
        let bridge: String
    }

    package enum Place: Hashable, Sendable {
        /// The address is one of this machine's.
        case machine
        /// The address lies in the network of a bridge inside this machine.
        case container(bridge: String)
    }

    private var own: Set<InternetAddress> = []
    private var networks: [Network] = []

    /// Whether the machine has shown any address of its own.
    package var isKnown: Bool { !own.isEmpty }

    /// - Parameters:
    ///   - trie: `/proc/net/fib_trie`: the IPv4 addresses of this machine.
    ///   - routes: `/proc/net/route`: the IPv4 networks with their interfaces.
    ///   - ipv6: `/proc/net/if_inet6`: the IPv6 addresses with their interfaces.
    ///   - bridges: The bridges that join no network adapter.
    package init(trie: String, routes: String, ipv6: String, bridges: Set<String>) {
        readTrie(trie)
        for line in routes.split(separator: "\n") { readRoute(line.split(whereSeparator: \.isWhitespace), bridges) }
        for line in ipv6.split(separator: "\n") { readIPv6(line.split(separator: " "), bridges) }
    }

    /// - Returns: nil: elsewhere, or not known.
    package func place(of address: InternetAddress) -> Place? {
        if address.isLoopback || own.contains(address) { return .machine }
        let network = networks.first { address.has($0.length, bitsOf: $0.address) }
        return network.map { .container(bridge: $0.bridge) }
    }

    /// An address is followed by what it is: `|-- 192.168.1.2`, then `/32 host LOCAL`.
    private mutating func readTrie(_ trie: String) {
        var last: InternetAddress?
        for line in trie.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.first == "|--" {
                last = words.dropFirst().first.flatMap { InternetAddress(String($0)) }
            } else if words.first == "/32", words.last == "LOCAL", let last {
                own.insert(last)
            }
        }
    }

    /// Interface, destination, gateway, flags, counts, metric, mask: the numbers are in the order of the machine's memory, of
    /// which every one that this program runs on has the last octet first.
    private mutating func readRoute(_ words: [Substring], _ bridges: Set<String>) {
        guard words.count > 7, bridges.contains(String(words[0])), words[2] == "00000000",
            let destination = UInt32(words[1], radix: 16), let mask = UInt32(words[7], radix: 16), mask != 0
        else { return }
        add(InternetAddress(ipv4: destination.byteSwapped), 96 + mask.nonzeroBitCount, String(words[0]))
    }

    /// Address, index, length of the network, scope, flags, interface.
    private mutating func readIPv6(_ words: [Substring], _ bridges: Set<String>) {
        guard words.count == 6, let address = InternetAddress(hexadecimal: words[0]),
            let length = Int(words[2], radix: 16), length <= 128
        else { return }
        own.insert(address)
        // An address of a link alone is in the same network at every interface.
        guard bridges.contains(String(words[5])), !address.isLinkLocal else { return }
        add(address, length, String(words[5]))
    }

    private mutating func add(_ address: InternetAddress, _ length: Int, _ bridge: String) {
        networks.append(Network(address: address, length: length, bridge: bridge))
    }
}
