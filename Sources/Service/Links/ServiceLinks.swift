/// A service's links to the world. The store's and the broker's have threads of their own, which decide nothing.
package struct ServiceLinks {
    package var radio: any RadioLink
    package var store: any StoreLink
    /// Carries everything of OwnTracks.
    package var broker: any BrokerLink
    /// Carries what Home Assistant is told. MQTT gives a connection one will: OwnTracks has that of `broker`, and this
    /// one's says `offline`.
    package var availability: any BrokerLink
    package var status: any StatusLink

    package init(
        radio: any RadioLink, store: any StoreLink, broker: any BrokerLink, availability: any BrokerLink,
        status: any StatusLink
    ) {
        self.radio = radio
        self.store = store
        self.broker = broker
        self.availability = availability
        self.status = status
    }
}
