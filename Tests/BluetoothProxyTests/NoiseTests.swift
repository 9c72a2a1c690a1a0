import Encryption
import ProxyLink
import Testing

@testable import BluetoothProxy

@Suite struct NoiseTests {
    let functions: NoiseFunctions

    init() throws { functions = try #require(NoiseFunctions()) }

    @Test func `Both sides read what the other one writes`() throws {
        let key = [UInt8](repeating: 3, count: 32)
        var client = TestClient(key: key, functions: functions, prologue: [])
        var server = NoiseHandshake(key: key, prologue: [], primitives: functions)
        #expect(server.read(client.firstMessage()) == [])
    }
}
