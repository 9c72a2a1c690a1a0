import Glibc
import TestSupport

/// Three nodes of Debian's nats-server, which speaks MQTT 3.1.1. Each has the same port at an address of its own:
/// 127.0.0.1, 127.0.0.2 and 127.0.0.3.
final class NATSCluster {
    static let hosts = (1...3).map { "127.0.0.\($0)" }
    static let login = #"username: "jane", password: "secret""#
    let directory: TemporaryDirectory
    let port: UInt16
    private var nodes: [ChildProcess] = []

    init() throws {
        directory = try TemporaryDirectory()
        port = try LoopbackPort.free()
        let (clients, routes) = (try LoopbackPort.free(), try LoopbackPort.free())
        for (node, host) in Self.hosts.enumerated() {
            // MQTT needs JetStream for its sessions, and an account whose users have a password.
            try directory.write(
                """
                server_name: node\(node)
                listen: "\(host):\(clients)"
                jetstream { store_dir: "\(directory.file("node\(node)"))", max_mem: 64M, max_file: 256M }
                mqtt { listen: "\(host):\(port)" }
                cluster {
                  name: house, listen: "\(host):\(routes)"
                  routes: [\(Self.hosts.map { "\"nats://\($0):\(routes)\"" }.joined(separator: ", "))]
                }
                accounts {
                  SYS { users: [{user: "sys", password: "\(UInt64.random(in: 0...UInt64.max))"}] }
                  HOUSE { jetstream: enabled, users: [{user: "jane", password: "secret"}] }
                }
                system_account: SYS

                """, to: "node\(node).conf")
            nodes.append(
                try ChildProcess(
                    "nats-server", ["-c", directory.file("node\(node).conf")], output: directory.file("node\(node).log")
                ))
        }
        // A node refuses MQTT until the three have agreed on the streams of its account.
        guard eventually(within: .seconds(120), { self.accepts(at: Self.hosts[2]) }) else {
            throw SupportError("the cluster does not take messages: \(log(2))")
        }
    }

    func log(_ node: Int) -> String { String(decoding: (try? directory.read("node\(node).log")) ?? [], as: UTF8.self) }

    private func accepts(at host: String) -> Bool {
        let client = try? ChildProcess(
            "mosquitto_pub", Self.options(host: host, port: port) + ["-q", "1", "-t", "test", "-m", "x"],
            output: directory.file("probe"))
        return client?.wait() == 0
    }

    static func options(host: String, port: UInt16) -> [String] {
        ["-h", host, "-p", "\(port)", "-u", "jane", "-P", "secret"]
    }

    /// Kills a node; it does not return.
    func kill(_ node: Int) {
        nodes[node].send(SIGKILL)
        nodes[node].wait()
    }

    func stop() {
        for node in nodes where node.isRunning {
            node.send(SIGKILL)
            node.wait()
        }
    }
}
