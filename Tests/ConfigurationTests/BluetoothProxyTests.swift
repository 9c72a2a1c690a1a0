import Base
import JSON
import OwnTracks
import Testing

@testable import Configuration

@Suite struct BluetoothProxyTests {
    /// 32 bytes in base64.
    static let key = Secret("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")

    private func read(_ proxy: String, beside: String = "", key: String = key.revealed) throws -> Configuration {
        let files = ConfigurationFiles { _ in Secret(key) }
        return try Configuration(
            parsing: "{bluetoothProxy: \(proxy), \(beside)}".utf8, hostName: "pi", files: files)
    }

    @Test("The proxy is off by default, and null is off")
    func off() throws {
        #expect(try Configuration(parsing: "{}".utf8, hostName: "pi").bluetoothProxy == nil)
        #expect(try read("null").bluetoothProxy == nil)
    }

    @Test("A key file is enough: every address at ESPHome's port")
    func on() throws {
        let proxy = try #require(try read("{keyFile: 'k'}").bluetoothProxy)
        #expect(proxy == BluetoothProxySettings(listen: .proxy, key: .file(path: "k", secret: Self.key)))
        #expect(proxy.listen == ListenAddress(host: "*", port: 6053))
    }

    @Test("Address, port and the exceptions are taken as they are")
    func members() throws {
        let proxy = try read("{listen: '[::1]:7000', keyFile: 'k', allow: ['172.30.32.1', 'fd00::2']}").bluetoothProxy
        #expect(proxy?.listen == ListenAddress(host: "::1", port: 7000))
        #expect(proxy?.allowed == ["172.30.32.1", "fd00::2"])
    }

    static let mistakes: [(proxy: String, member: String, words: String)] = [
        ("{}", "keyFile", "openssl rand -base64 32"), ("{listen: '*:7000'}", "keyFile", "it is missing"),
        ("{keyFile: 'k', listen: 6053}", "listen", "with a port, such as *:6053"),
        ("{keyFile: 'k', listen: '*:0'}", "listen", "with a port"),
        ("{keyFile: 'k', listen: 'kitchen:6053'}", "listen", "an address in figures"),
        ("{keyFile: 'k', listen: '*:8080'}", "listen", "port 8080 is that of the status page"),
        ("{keyFile: 'k', allow: '1.2.3.4'}", "allow", "a list of up to 16 addresses"),
        ("{keyFile: 'k', allow: ['home']}", "allow", "a list of up to 16 addresses"),
        ("{keyFile: 'k', allow: [1]}", "allow", "a list of up to 16 addresses"),
        ("{keyFile: 'k', port: 6053}", "port", "there is no such setting"),
        ("{keyFile: 'k', key: 'x'}", "key", "there is no such setting"),
    ]

    @Test("A mistake names its member and what to write", arguments: mistakes)
    func mistake(proxy: String, member: String, words: String) {
        let error = #expect(throws: ConfigurationError.self) { try read(proxy) }
        #expect(error?.problems.map(\.member).contains("bluetoothProxy.\(member)") == true)
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
    }

    @Test("Anything but an object is refused whole", arguments: ["true", "6053", "'*:6053'", "[]"])
    func whole(proxy: String) {
        let error = #expect(throws: ConfigurationError.self) { try read(proxy) }
        #expect(error?.problems.map(\.member) == ["bluetoothProxy"])
    }

    @Test(
        "A key that Home Assistant would not take is refused and not shown",
        arguments: [
            "geheim", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHg==",
            "-_ECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
            "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        ])
    func key(text: String) {
        let error = #expect(throws: ConfigurationError.self) { try read("{keyFile: 'k'}", key: text) }
        #expect(error?.problems.map(\.member) == ["bluetoothProxy.keyFile"])
        #expect(error?.description.contains("no key, which is 32 bytes in base64") == true)
        #expect(error?.description.contains(text) == false)
    }

    @Test(
        "Another key in the same file is a change, which a reload puts in force, and the rooms service has no part in it"
    )
    func reload() throws {
        let before = try read("{keyFile: 'k'}")
        let after = try read("{keyFile: 'k'}", key: "HwECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
        #expect(Reload(from: before, to: after, in: .gateway).text == "applied: bluetoothProxy")
        #expect(Reload(from: before, to: after, in: .rooms).text == "nothing changed")
    }

    @Test("What is shown names the file and not the key")
    func shown() throws {
        let shown = try read("{keyFile: 'k', allow: ['10.0.0.1']}").shown.text
        #expect(shown.contains(#""bluetoothProxy":{"allow":["10.0.0.1"],"keyFile":"k","listen":"*:6053"}"#))
        #expect(!shown.contains(Self.key.revealed))
    }
}
