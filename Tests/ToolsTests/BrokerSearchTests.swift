import System
import Testing

@testable import Tools

@Suite struct BrokerSearchTests {
    private let network = [
        BrokerSearch.Address(host: "house.local", port: 1883), BrokerSearch.Address(host: "other.local", port: 1884),
    ]

    @Test func `Without questions a password is not sent to a broker that answered in the network`() throws {
        let found = BrokerSearch.Found(brokers: network)
        let failure = #expect(throws: Failure.self) { try found.chosen(hasPassword: true) }
        #expect(failure?.code == .usage)
        let text = failure?.message ?? ""
        #expect(text.contains("house.local:1883, other.local:1884") && text.contains("--host"), "\(text)")
        #expect(try found.chosen(hasPassword: false) == network[0])
    }

    @Test func `The dialogue names all that were found`() {
        #expect(BrokerSearch.Found(brokers: network).sentence == "Found 2: house.local:1883, other.local:1884.")
        #expect(BrokerSearch.Found(brokers: [network[1]]).sentence == "Found one at other.local:1884.")
        #expect(BrokerSearch.Found().sentence == "None was found, here or by mDNS.")
    }

    @Test(arguments: [false, true])
    func `Without questions the broker of this machine is used`(hasPassword: Bool) throws {
        let here = BrokerSearch.Address(host: "localhost", port: 1883)
        #expect(try BrokerSearch.Found(brokers: [here], isHere: true).chosen(hasPassword: hasPassword) == here)
    }

    @Test func `With TLS none is looked for, and none is said to be missing`() {
        let found = BrokerSearch.Found(isSought: false)
        #expect(found.sentence == "With TLS none is looked for: its name must be one of its certificate.")
        let failure = #expect(throws: Failure.self) { try found.chosen(hasPassword: false) }
        #expect(failure?.code == .usage && failure?.message.hasSuffix("name it with --host") == true)
    }

    @Test func `Without questions and without a broker setup ends`() {
        let failure = #expect(throws: Failure.self) { try BrokerSearch.Found().chosen(hasPassword: false) }
        #expect(failure?.code == .unavailable)
    }
}
