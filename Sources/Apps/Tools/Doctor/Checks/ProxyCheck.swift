import Configuration
import Health
import JSON
import Shell
import Status

/// The Bluetooth proxy: its key, and what the running service says of its ports, names and clients.
enum ProxyCheck {
    static func findings(_ settings: Settings) -> [DoctorFinding] {
        guard let proxy = settings.configuration.bluetoothProxy else { return [] }
        let answer = try? StatusClient(stateDirectory: settings.stateDirectory).ask("/status.json")
        return findings(proxy, answer.map { StatusSnapshot(reading: $0) })
    }

    /// - Parameter status: nil: no service answers, which another check says.
    static func findings(_ proxy: BluetoothProxySettings, _ status: StatusSnapshot?) -> [DoctorFinding] {
        var findings = [DoctorFinding(.proxy, "the key of the Bluetooth proxy is in \(proxy.key.path ?? "")")]
        guard let status else { return findings }
        guard !status.proxies.isEmpty else {
            let isRunning = !status.scanner.adapters.isEmpty
            return findings + [
                DoctorFinding(
                    .proxy, isRunning ? "the service does not serve it yet" : "there is no adapter to serve it with",
                    remedy: isRunning ? "sudo systemctl reload ibeacon-gateway" : "see the finding of the radio")
            ]
        }
        findings += status.findings.filter { $0.subject == "proxy" }.map { finding in
            DoctorFinding(.proxy, finding.text, remedy: finding.level == .ok ? nil : finding.remedy)
        }
        return findings + status.proxies.filter { $0.problem == nil }.map(wayFound)
    }

    /// How Home Assistant finds it.
    private static func wayFound(_ proxy: StatusSnapshot.ProxyState) -> DoctorFinding {
        let ways = [(proxy.isAtBroker, "at the broker"), (proxy.isAtAvahi, "by mDNS")].filter(\.0).map(\.1)
        let byHand =
            "in Home Assistant: Settings, Devices & services, Add integration, ESPHome, with port \(proxy.port)"
        guard !ways.isEmpty else {
            let reason = proxy.avahiProblem.map { " (\($0))" } ?? ""
            return DoctorFinding(.proxy, "\(proxy.name) is announced nowhere\(reason)", advice: byHand)
        }
        return DoctorFinding(.proxy, "Home Assistant finds \(proxy.name) \(ways.joined(separator: " and "))")
    }
}
