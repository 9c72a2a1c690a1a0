package import Shell

/// The links of a service. The links of the store, the broker and the keys of phones have their own threads, which decide
/// nothing.
package struct ServiceLinks {
    package var radio: any RadioLink
    package var store: any StoreLink
    /// Carries everything of OwnTracks.
    package var broker: any BrokerLink
    /// Carries the messages for Home Assistant and the rooms service. An MQTT connection has one will: the will of
    /// `broker` belongs to OwnTracks, and the will of this connection is `offline`.
    package var availability: any BrokerLink
    package var status: any StatusLink
    package var phoneKeys: any PhoneKeyLink
    /// nil: no Bluetooth proxy is possible.
    package var proxies: ProxySurroundings?

    package init(
        radio: any RadioLink, store: any StoreLink, broker: any BrokerLink, availability: any BrokerLink,
        status: any StatusLink, phoneKeys: any PhoneKeyLink, proxies: ProxySurroundings? = nil
    ) {
        self.radio = radio
        self.store = store
        self.broker = broker
        self.availability = availability
        self.status = status
        self.phoneKeys = phoneKeys
        self.proxies = proxies
    }
}
