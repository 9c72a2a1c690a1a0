/// Where a server listens.
package struct ListenAddress: Hashable, Sendable {
    /// A host name or address; an IPv6 address has no brackets.
    package var host: String
    package var port: UInt16

    /// The default of the gateway's status page.
    package static let gateway = ListenAddress(host: "127.0.0.1", port: 8080)
    /// The default of the rooms service's page.
    package static let rooms = ListenAddress(host: "127.0.0.1", port: 8081)
    /// The default of the Bluetooth proxy: every address, because Home Assistant is another machine. 6053 is ESPHome's port.
    package static let proxy = ListenAddress(host: "*", port: 6053)
}
