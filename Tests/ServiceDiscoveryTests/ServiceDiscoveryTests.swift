import ServiceDiscovery
import Testing

/// Answers of multicast DNS, as responders write them.
@Suite struct ServiceDiscoveryTests {
    private static func name(_ text: String) -> [UInt8] {
        text.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
    }

    private static func packet(_ records: [[UInt8]], questions: UInt8 = 0) -> [UInt8] {
        [0, 0, 0x84, 0, 0, questions, 0, UInt8(records.count), 0, 0, 0, 0] + records.flatMap { $0 }
    }

    private static func record(_ owner: [UInt8], _ type: UInt8, _ data: [UInt8]) -> [UInt8] {
        owner + [0, type, 0x80, 1, 0, 0, 0, 120, UInt8(data.count >> 8), UInt8(data.count & 0xff)] + data
    }

    private static let pointer = record(name("_mqtt._tcp.local"), 12, name("Home Broker._mqtt._tcp.local"))
    private static let service = record(
        name("Home Broker._mqtt._tcp.local"), 33, [0, 0, 0, 0, 0x07, 0x5b] + name("house.local"))
    private static let address = record(name("house.local"), 1, [192, 168, 1, 7])

    @Test func `A question is one name, a type, and the wish for an answer to the asker alone`() {
        let header: [UInt8] = [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
        let question = Array("\u{5}_mqtt\u{4}_tcp\u{5}local\u{0}".utf8)
        let typeAndClass: [UInt8] = [0, 12, 0x80, 1]
        #expect(DNSMessage.question("_mqtt._tcp.local", .pointer) == header + question + typeAndClass)
        #expect(DNSMessage.question("a..b", .pointer) == nil)
        #expect(DNSMessage.question(String(repeating: "x", count: 64), .pointer) == nil)
    }

    @Test func `One answer with all three records is enough`() {
        var search = ServiceSearch("_mqtt._tcp")
        #expect(search.take(Self.packet([Self.pointer, Self.service, Self.address])) == [])
        #expect(search.isComplete)
        #expect(search.found.map(\.host) == ["house.local"])
        #expect(search.found.map(\.instance) == ["Home Broker"])
        #expect(search.found.map(\.port) == [1883])
        #expect(search.found.map(\.address) == ["192.168.1.7"])
    }

    @Test func `What an answer leaves out is asked for`() {
        var search = ServiceSearch("_mqtt._tcp")
        #expect(
            search.take(Self.packet([Self.pointer])) == [DNSMessage.question("Home Broker._mqtt._tcp.local", .service)])
        #expect(search.take(Self.packet([Self.service])) == [DNSMessage.question("house.local", .address)])
        #expect(search.take(Self.packet([Self.address])) == [])
        #expect(search.isComplete)
    }

    @Test func `A compressed name is read`() {
        // "house.local" at 12, and a pointer to its "local" behind "other".
        let first = Self.record(Self.name("house.local"), 1, [10, 0, 0, 1])
        let second = Self.record([5] + Array("other".utf8) + [0xc0, 18], 1, [10, 0, 0, 2])
        #expect(
            DNSMessage.records(in: Self.packet([first, second])) == [
                .address(name: "house.local", [10, 0, 0, 1]), .address(name: "other.local", [10, 0, 0, 2]),
            ])
    }

    @Test func `Other kinds of service are not brokers`() {
        var search = ServiceSearch("_mqtt._tcp")
        let other = Self.record(Self.name("_http._tcp.local"), 12, Self.name("Printer._http._tcp.local"))
        #expect(search.take(Self.packet([other])) == [])
        #expect(search.found == [])
    }

    @Test func `A pointer to itself or forwards ends the reading`() {
        let loop = Self.record([0xc0, 12], 1, [1, 2, 3, 4])
        let forwards = Self.record([0xc0, 60], 1, [1, 2, 3, 4])
        #expect(DNSMessage.records(in: Self.packet([loop])) == [])
        #expect(DNSMessage.records(in: Self.packet([forwards])) == [])
    }

    @Test func `A question, an empty packet and every cut-off packet give nothing that was not whole`() {
        let whole = Self.packet([Self.pointer, Self.service, Self.address])
        let records = DNSMessage.records(in: whole)
        #expect(records.count == 3)
        for length in 0..<whole.count {
            let part = DNSMessage.records(in: Array(whole.prefix(length)))
            #expect(part == Array(records.prefix(part.count)) && part.count < 3)
        }
        var question = whole
        question[2] = 0
        #expect(DNSMessage.records(in: question) == [])
    }

    @Test func `No packet of random bytes traps`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            var packet = Self.packet([Self.pointer, Self.service, Self.address])
            for _ in 0..<8 {
                packet[Int.random(in: 4..<packet.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            var search = ServiceSearch("_mqtt._tcp")
            _ = search.take(packet)
        }
    }
}
