/// The other end of a connection.
package struct ProxyPeer: Hashable, Sendable {
    /// The numeric address without the port; of a link-local one with its interface (`fe80::1%eth0`).
    package let address: String
    /// Why this address may not receive packets, as the end of a sentence; nil: it may. Everything else it may ask, so that `doctor`
    /// can look at the proxy from this machine.
    package let refusal: String?

    package init(address: String, refusal: String? = nil) {
        self.address = address
        self.refusal = refusal
    }
}
