/// The links that every service has.
package struct AppLinks {
    package let store: any StoreLink
    package let broker: any BrokerLink
    /// nil: the service has no page.
    package let status: (any StatusLink)?

    package init(store: any StoreLink, broker: any BrokerLink, status: (any StatusLink)?) {
        (self.store, self.broker, self.status) = (store, broker, status)
    }
}
