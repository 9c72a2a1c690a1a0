package import BluetoothProxy

/// The port of one proxy with its clients. In the program it has sockets; in unit tests it is a script.
package protocol ProxyEndpoint: AnyObject {
    /// Called for the effects that concern no socket: `listen`, `scanActively`, `adopted`, `note`.
    var onEffect: (ProxyServer.Effect) -> Void { get set }
    var status: ProxyStatus { get }
    func handle(_ input: ProxyServer.Input)
    /// Says good-bye to all clients. It is not used any more.
    func stop()
}
