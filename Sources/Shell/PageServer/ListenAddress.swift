package import Configuration
import Glibc
import System

extension ListenAddress {
    /// The numeric address. Names are not looked up, because the answer could be any address.
    private var figures: String {
        switch host {
        case "localhost": "127.0.0.1"
        case "*", "": "0.0.0.0"
        default: host
        }
    }

    private var isIPv6: Bool { isIPv6Address(figures) }

    /// Whether only this machine can reach the address.
    package var isLoopback: Bool {
        isIPv6 ? figures == "::1" || figures.hasPrefix("::ffff:127.") : figures.hasPrefix("127.")
    }

    /// Opens a listening socket.
    ///
    /// - Throws: `StatusServerError.listen` with the kernel's reason.
    func open() throws(StatusServerError) -> (descriptor: CInt, port: UInt16) {
        guard isIPv6 || isIPv4Address(figures), let address = NetworkAddress(host: figures, port: port) else {
            throw .notAnAddress(host)
        }
        do throws(SystemError) {
            let descriptor = try address.listen(backlog: 128)
            return (descriptor, try NetworkAddress.own(of: descriptor).port)
        } catch {
            throw .listen(address: description, errno: error.code)
        }
    }
}

func isIPv4Address(_ text: String) -> Bool {
    var address = in_addr()
    return inet_pton(AF_INET, text, &address) == 1
}

func isIPv6Address(_ text: String) -> Bool {
    var address = in6_addr()
    return inet_pton(AF_INET6, text, &address) == 1
}

/// The C library's text for an error number.
func errorText(_ number: CInt) -> String {
    guard let text = strerror(number) else { return "error \(number)" }
    return String(cString: text)
}
