import Configuration
import System

/// Another broker, which a person names after the first one could not be used.
struct OtherBroker {
    let host: String
    let port: UInt16
    let tls: Bool
    /// Whether it gets the login of the first one.
    let getsLogin: Bool

    /// Asks until the answers are a broker.
    ///
    /// - Parameters:
    ///   - former: The broker that could not be used.
    ///   - username: Of the login; nil: there is none. It is not sent to another machine unless the person says so.
    ///   - option: An option by which the connection is encrypted; nil: none is given.
    init(
        asking dialogue: Dialogue, after former: (host: String, port: UInt16), username: String?,
        beside option: String?
    ) throws(Failure) {
        let address = try Self.address(dialogue, former.host, beside: option)
        host = address.name
        let standard: UInt16 = address.tls.map { $0 ? 8883 : 1883 } ?? former.port
        // Not with `??`, which would lose the type of the error.
        port =
            if let given = address.port.flatMap(UInt16.init(exactly:)) { given } else {
                try Self.port(dialogue, standard)
            }
        tls =
            if let known = address.tls { known } else if option != nil { true } else {
                try dialogue.confirm("With TLS?", port == 8883)
            }
        guard let username, !host.utf8.elementsEqual(former.host.utf8) else {
            getsLogin = true
            return
        }
        getsLogin = try dialogue.confirm("Log in there as '\(username)', with the same password?", false)
    }

    private static func address(
        _ dialogue: Dialogue, _ standard: String, beside option: String?
    ) throws(Failure) -> BrokerHost {
        while true {
            let text = try dialogue.ask("MQTT broker", standard)
            do throws(Failure) {
                let address = try BrokerHost(given: text)
                try address.check(beside: option)
                return address
            } catch {
                dialogue.show(error.message)
            }
        }
    }

    private static func port(_ dialogue: Dialogue, _ standard: UInt16) throws(Failure) -> UInt16 {
        while true {
            let text = try dialogue.ask("Port", "\(standard)")
            if let port = UInt16(text), port > 0 { return port }
            dialogue.show("'\(text)' is not a port; write 1 to 65535.")
        }
    }
}
