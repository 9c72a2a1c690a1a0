package import Base

/// How the files that a configuration names are found and read. The configuration itself opens no file.
package struct ConfigurationFiles {
    /// What is wrong with a file, with its path.
    package struct Problem: Error {
        package let reason: String

        package init(_ reason: String) { self.reason = reason }
    }

    /// The first line of a file.
    let secret: (_ path: String) throws(Problem) -> Secret
    /// The path under which the libraries open a file.
    let resolved: (_ path: String) -> String
    /// Whether a secret that a library reads may be known to all users, by its resolved path; nil: it may not, or there is no such file.
    let exposure: (_ path: String) -> Problem?

    package init(
        resolved: @escaping (_ path: String) -> String = { $0 },
        exposure: @escaping (_ path: String) -> Problem? = { _ in nil },
        secret: @escaping (_ path: String) throws(Problem) -> Secret
    ) {
        (self.resolved, self.exposure, self.secret) = (resolved, exposure, secret)
    }

    /// Where no file can be read, a configuration that names the file of a secret is refused.
    package static var unread: ConfigurationFiles {
        ConfigurationFiles { path throws(Problem) in throw Problem("\(path) is not read here") }
    }
}
