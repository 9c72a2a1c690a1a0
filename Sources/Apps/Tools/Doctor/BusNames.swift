import Base
import DBus
import GatewayApp
import Runtime
import Shell
import System

/// The names of the system bus. A service that runs in another container or as another user has its name there all the same.
enum BusNames {
    private static let bus = "org.freedesktop.DBus"

    /// Whether a service has this name, such as `org.bluez`; false if the bus cannot be asked within a second.
    static func isOwned(_ name: String) -> Bool {
        guard let loop = try? EventLoop() else { return false }
        let host = LoopHost(loop: loop, log: Log(threshold: .error))
        guard let connection = try? BusConnection(to: bus, host: host) else { return false }
        let limit = host.at(Clocks.now().advanced(by: .seconds(1))) { loop.exit(0) }
        defer {
            limit.cancel()
            connection.close()
        }
        connection.onClosed = { loop.exit(0) }
        let call = BusMessage.call(bus, "/org/freedesktop/DBus", bus, "NameHasOwner")
        call?.append { $0.string(name) }
        var isOwned: Bool?
        connection.call(call) { answer in
            isOwned = answer.reader.boolean ?? false
            loop.exit(0)
        }
        connection.open()
        if isOwned == nil { _ = try? loop.run() }
        return isOwned ?? false
    }
}
