import Identities

/// A back end that pairs with a phone, as the course needs it.
protocol PairingBackend: AnyObject {
    /// Asks a device that has connected to pair.
    func pair(_ device: String)
    /// The key that a device has given; nil if there is none yet.
    func key(of device: String) -> IdentityKey?
    /// Ends the advertisement and what belongs to it.
    func withdraw()
    /// Removes a device with its bond.
    ///
    /// - Parameter done: Gets the reason if it is still there, else nil.
    func remove(_ device: String, _ done: @escaping (String?) -> Void)
    /// Undoes the rest, when the devices are removed.
    ///
    /// - Parameter done: Gets what could not be undone, and why.
    func finish(_ done: @escaping ([String]) -> Void)
}
