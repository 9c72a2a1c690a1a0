import Base
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
        var words = ["mosquitto_sub", "-h", ShellWord.of(broker.hosts[0]), "-p", "\(broker.port)"]
        if let file = broker.caFile {
            words += ["--cafile", ShellWord.of(file)]
        } else if broker.tls {
            words += ["--capath", "/etc/ssl/certs"]
        }
        if let username = broker.username {
            words += ["-u", ShellWord.of(username)]
            if let file = broker.password.path {
                words += ["-P", "\"$(\(needsRoot ? "sudo " : "")cat \(ShellWord.of(file)))\""]
            }
        }
        words += ["-v", "-t", ShellWord.of(topic)]
        let readsFile = broker.caFile != nil
        return (needsRoot && readsFile ? "sudo " : "") + words.joined(separator: " ")
    }
}
