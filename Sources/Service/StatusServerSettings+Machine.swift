package import Configuration
package import Runtime
package import StatusPage
package import System

extension StatusServerSettings {
    /// How the page of a service of this machine is served, with the token of its state directory. On loopback one is
    /// made; beyond, a person must have asked for it.
    ///
    /// - Parameter tokenCommand: What a person types to make the token.
    /// - Throws: `Failure` where the page would show the home to others.
    package init(
        pageAt address: ListenAddress, stateDirectory: String, tokenCommand: String, log: Log
    ) throws(Failure) {
        let token = try Self.token(for: address, stateDirectory, tokenCommand, log)
        self.init(address: address, token: token, hostNames: Self.hostNames)
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

    /// The names of this machine by which a browser on the home's network may call it.
    private static var hostNames: [String] {
        let name = Settings.hostName
        let short = String(name.prefix { $0 != "." })
        return [name, short, "\(short).local", "\(short).lan", "\(short).home", "\(short).fritz.box"]
    }
}
