import Base
import Configuration
import JSON
import PageServer
import Shell
import System

/// A link that opens the page of a service once, without the token being typed: what `status --link` prints.
struct PageLink {
    let text: String
    /// Whether no other machine reaches the page.
    let isForThisMachine: Bool
    /// The setting with which the page listens in the home's network.
    let openSetting: String

    /// - Parameters:
    ///   - answer: What the service answered at `/link`.
    ///   - isOfRooms: Whether the page is that of the rooms service, whose setting is another one.
    ///   - machine: The name or address of this machine for others, for a page that listens on all of its addresses.
    /// - Returns: nil if the answer is not that of a service.
    init?(reading answer: JSONValue, isOfRooms: Bool = false, machine: () -> String) {
        guard let token = answer["token"]?.string, let host = answer["host"]?.string,
            case .integer(let number)? = answer["port"], let port = UInt16(exactly: number)
        else { return nil }
        var address = ListenAddress.gateway
        (address.host, address.port) = (host, port)
        isForThisMachine = address.isLoopback
        let setting = "http: {listen: \"*:\(port)\"}"
        openSetting = isOfRooms ? "rooms: {\(setting)}" : setting
        if ["*", "", "0.0.0.0", "::"].contains(host) { address.host = machine() }
        // What follows '#' stays in the browser: no server and no proxy logs it.
        text = "http://\(address)/#link=\(token)"
    }

    /// Prints the link, and on a terminal the code that a phone's camera reads.
    ///
    /// - Parameter isAlone: Only the link, for scripts.
    func show(isAlone: Bool) {
        Terminal.print(text)
        guard !isAlone else { return }
        let minutes = OneTimeLink.life.components.seconds / 60
        Terminal.printError("It opens the page once, within \(minutes) minutes, with the right to change things.")
        if isForThisMachine {
            Terminal.printError(
                "Only this machine reaches the page. For a phone, let it listen in the home's network: "
                    + "\(openSetting) in the configuration, and restart the service.")
            return
        }
        // The link is a secret, so it is not on a command line, which all users see.
        guard Terminal.isInteractive, OtherProgram.run(["qrencode", "-t", "ANSIUTF8", "-m", "2"], input: text) == nil
        else { return }
        Terminal.printError(
            "For a code that a phone's camera reads, install qrencode: sudo apt-get install -y qrencode")
    }

    /// The address of this machine in its network, otherwise its name.
    static func machine() -> String { MachineNetwork.outwardAddress() ?? Settings.hostName }
}
