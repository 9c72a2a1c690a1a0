import JSON
import System

/// What the rooms service of this machine says about itself. What the broker retains does not show a service whose messages
/// the broker refuses.
struct LocalRoomsService {
    /// Why no service of the site is active although this one runs, and what to do.
    let text: String
    let remedy: String

    private init(text: String, remedy: String) { (self.text, self.remedy) = (text, remedy) }

    /// - Parameters:
    ///   - client: Asks the service of a state directory.
    ///   - site: The site that the command is about.
    /// - Returns: nil if no rooms service of that site runs here.
    static func asked(_ client: StatusClient, site: String) -> LocalRoomsService? {
        do throws(Failure) {
            return LocalRoomsService(try client.ask("/status.json"), site: site)
        } catch {
            guard error.code == .noPermission else { return nil }
            let text = "a rooms service may run on this machine: \(error.message)"
            return LocalRoomsService(text: text, remedy: "run this command with sudo")
        }
    }

    /// The name of the rooms service of this machine, if it is the active one of the site; empty if it is not, or does not say.
    static func active(_ client: StatusClient, site: String) -> Set<String> {
        guard let status = try? client.ask("/status.json") else { return [] }
        return active(status, site: site)
    }

    /// - Parameter status: What the service answered.
    static func active(_ status: JSONValue, site: String) -> Set<String> {
        guard status["site"]?.string == site, status["role"] == "active", let name = status["instance"]?.string else {
            return []
        }
        return [name]
    }

    /// - Parameter status: What the service answered.
    init?(_ status: JSONValue, site: String) {
        guard status["site"]?.string == site, let role = status["role"]?.string else { return nil }
        let finding = (status["findings"]?.array ?? []).first {
            ["broker", "service", "tags"].contains($0["subject"]?.string) && $0["level"] == "error"
        }
        if let finding {
            text = "the rooms service of this machine runs and is not active: \(finding["text"]?.string ?? "")"
            remedy = finding["cure"]?.string ?? ""
        } else {
            text = "the rooms service of this machine runs, as '\(role)'"
            remedy =
                role == "active"
                ? "the broker does not send its card to this command: check the rights to read ibeacon-rooms/\(site)/#"
                : "it decides within ten seconds if no other service does"
        }
    }
}
