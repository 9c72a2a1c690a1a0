import Configuration
import JSON
import Shell
import System

/// Who may open the page that setup configures, and whether settings may be changed on it.
struct SetupPage {
    /// Whether other machines reach it.
    let isOpen: Bool
    let allowsSettings: Bool

    /// - Parameter asks: Whether the user is asked what no option answers.
    init(_ arguments: Arguments, _ dialogue: Dialogue, asks: Bool) throws(Failure) {
        let (isOpen, allowsSettings) = (arguments.has("open-page"), arguments.has("remote-configuration"))
        guard asks, dialogue.isInteractive else {
            (self.isOpen, self.allowsSettings) = (isOpen, allowsSettings)
            return
        }
        // Not with `||`, which would lose the type of the error.
        self.isOpen =
            if isOpen { true } else {
                try dialogue.confirm(
                    "May phones and computers of this network open its page, with a link of 'status --link'?", false)
            }
        self.allowsSettings =
            if allowsSettings { true } else {
                try dialogue.confirm(
                    "May names, the place and other settings be changed on the page, and by commands at the broker?",
                    false)
            }
    }

    /// The members of the configuration.
    var members: [(name: String, value: JSONValue)] {
        var members: [(String, JSONValue)] = []
        if isOpen {
            var address = ListenAddress.gateway
            address.host = "*"
            members.append(("http", ["listen": .string("\(address)")]))
        }
        if allowsSettings { members.append(("remoteConfiguration", true)) }
        return members
    }

    /// Makes the token, without which the service does not open its page to other machines.
    func makeToken(in stateDirectory: String) throws(Failure) {
        guard isOpen, try StatusToken.read(in: stateDirectory) == nil else { return }
        try FileAccess.createDirectory(stateDirectory)
        _ = try StatusToken.make(in: stateDirectory)
    }
}
