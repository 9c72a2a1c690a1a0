import Configuration

/// The command line by which a person sees what the gateway publishes. It works with the login and the authority of the
/// configuration, and names the file of the password, never the password.
struct SubscribeLine {
    let broker: Broker
    /// The filter.
    let topic: String
    /// Whether only root and the service may read the files that the configuration names.
    let needsRoot: Bool

    var text: String {
        var words = ["mosquitto_sub", "-h", Self.quoted(broker.hosts[0]), "-p", "\(broker.port)"]
        if let file = broker.caFile {
            words += ["--cafile", Self.quoted(file)]
        } else if broker.tls {
            words += ["--capath", "/etc/ssl/certs"]
        }
        if let username = broker.username {
            words += ["-u", Self.quoted(username)]
            if let file = broker.password.path {
                words += ["-P", "\"$(\(needsRoot ? "sudo " : "")cat \(Self.quoted(file)))\""]
            }
        }
        words += ["-v", "-t", Self.quoted(topic)]
        let readsFile = broker.caFile != nil
        return (needsRoot && readsFile ? "sudo " : "") + words.joined(separator: " ")
    }

    /// A word for a shell.
    private static func quoted(_ text: String) -> String {
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            scalar.isASCII
                && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                    || "-_./:@%+".unicodeScalars.contains(scalar))
        }
        guard !isPlain || text.isEmpty else { return text }
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
