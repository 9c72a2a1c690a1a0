import Base
import Health
import HostSupport
import Status
import StatusPageSupport
import Testing

@testable import Configuration
@testable import Tools

/// What `doctor` says of the Bluetooth proxy.
@Suite struct ProxyCheckTests {
    private static let settings = BluetoothProxySettings(
        listen: .proxy, key: .file(path: "/etc/key", secret: Secret("secret")))

    private func snapshot() -> StatusSnapshot {
        var snapshot = FakeHome(host: PollLoop()).statusSnapshot()
        snapshot.findings = snapshot.liveFindings
        return snapshot
    }

    @Test func `Who is refused is named, with what allows it on purpose`() throws {
        let findings = ProxyCheck.findings(Self.settings, snapshot())
        let bad = try #require(findings.first { !$0.isWell })
        #expect(bad.text.hasPrefix("ibg-pi-kitchen gives no packets to 172.17.0.2: it runs in a container"))
        #expect(bad.remedy == "if it is meant: bluetoothProxy: {allow: [\"172.17.0.2\"]}, and reload")
        #expect(findings.count { !$0.isWell } == 1)
    }

    @Test func `Key, port, clients and the ways to be found are named`() {
        let texts = ProxyCheck.findings(Self.settings, snapshot()).map(\.text)
        #expect(texts.first == "the key of the Bluetooth proxy is in /etc/key")
        #expect(texts.contains("ibg-pi-kitchen, hci0 at port 6053: Home Assistant 2026.11.0 at 192.168.1.9"))
        #expect(texts.contains("Home Assistant finds ibg-pi-kitchen at the broker"))
        #expect(!texts.contains { $0.contains("secret") })
    }

    @Test func `A port that is not open is a problem, and where nothing announces it a person can add it by hand`()
        throws
    {
        var snapshot = snapshot()
        snapshot.proxies[0].clients = []
        snapshot.proxies[0].isAtBroker = false
        var findings = ProxyCheck.findings(Self.settings, snapshot)
        #expect(findings.last?.text == "ibg-pi-kitchen is announced nowhere (avahi-daemon does not run)")
        #expect(findings.last?.isWell == true && findings.last?.advice?.contains("port 6053") == true)
        snapshot.proxies[0].problem = "port 6053 cannot be opened: bind: Address already in use"
        snapshot.findings = snapshot.liveFindings
        findings = ProxyCheck.findings(Self.settings, snapshot)
        #expect(findings.last?.isWell == false)
        #expect(findings.last?.text.contains("Address already in use") == true)
    }

    @Test func `A service that has not read the setting yet is named`() {
        var snapshot = snapshot()
        snapshot.proxies = []
        #expect(ProxyCheck.findings(Self.settings, snapshot).last?.remedy == "sudo systemctl reload ibeacon-gateway")
        #expect(ProxyCheck.findings(Self.settings, nil).count == 1)
    }
}
