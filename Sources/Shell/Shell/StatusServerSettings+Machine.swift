package import Configuration
package import PageServer
package import Runtime
package import System

extension StatusServerSettings {
    /// The settings for the commands of this machine: what the page shows to every user is shown to them too.
    package init(commandsFor stateDirectory: String, page: ListenAddress?) {
        self.init(socket: ControlSocket.served(for: stateDirectory), isReadingOpen: page?.isLoopback == true)
    }

    /// The settings of the page of a service on this machine, with the token of its state directory. On loopback a
    /// missing token is made. On any other address the user must have made it.
    ///
    /// - Parameter tokenCommand: The command with which the user makes the token.
    /// - Throws: `Failure` if the page would be open to others without protection.
    package init(
        pageAt address: ListenAddress, stateDirectory: String, tokenCommand: String, log: Log
    ) throws(Failure) {
        let token = try Self.token(for: address, stateDirectory, tokenCommand, log)
        self.init(address: address, token: token, hostNames: Self.hostNames)
    }

    /// Whether a service would not start because its page has no token beyond loopback. A user who may not see the token
    /// is not told that there is none.
    package static func lacksToken(pageAt address: ListenAddress, stateDirectory: String) -> Bool {
        guard !address.isLoopback else { return false }
        do throws(Failure) { return try StatusToken.read(in: stateDirectory) == nil } catch { return false }
    }

    private static func token(
        for address: ListenAddress, _ stateDirectory: String, _ command: String, _ log: Log
    ) throws(Failure) -> String? {
        do throws(Failure) {
            if let token = try StatusToken.read(in: stateDirectory) { return token }
            guard address.isLoopback else {
                throw Failure(
                    .configuration,
                    "the status page would listen on \(address), beyond this machine, without a token; "
                        + "make one with '\(command)', or listen on 127.0.0.1")
            }
            return try StatusToken.make(in: stateDirectory)
        } catch {
            guard address.isLoopback else { throw Failure(.configuration, error.message) }
            log.warning("\(error.message); the status page can be read, but nothing can be changed on it")
            return nil
        }
    }

    /// The names of this machine that a browser on the home's network may use.
    private static var hostNames: [String] {
        let name = Settings.hostName
        let short = String(name.prefix { $0 != "." })
        return [name, short, "\(short).local", "\(short).lan", "\(short).home", "\(short).fritz.box"]
    }
}
