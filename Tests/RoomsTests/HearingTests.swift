import Base
import RoomsSupport
import SiteProtocol
import Testing

@testable import Rooms

/// What `Hearing` knows about gateways and rooms, alone.
@Suite struct HearingTests {
    private var hearing: Hearing

    init() {
        var bounds = RoomEngine.Bounds()
        (bounds.gateways, bounds.rooms) = (3, 2)
        hearing = Hearing(bounds: bounds, HearingTuning())
    }

    private func seconds(_ seconds: Double) -> MonotonicInstant { MonotonicInstant(nanoseconds: Int64(seconds * 1e9)) }

    private mutating func add(_ name: String) throws -> GatewayIndex {
        let gateway = hearing.addGateway(name)
        return try #require(gateway)
    }

    private mutating func room(_ name: String) throws -> RoomIndex {
        let room = hearing.addRoom(RoomName.named(name))
        return try #require(room)
    }

    /// A message of a gateway that listens; without a boot, of a node.
    private mutating func send(_ gateway: GatewayIndex, startID: String = "a", at time: Double, reports: Int64 = 10) {
        let second = HeardSecond(
            startID: startID, sequence: Int64(time), at: .seconds(time), listening: .seconds(1), reports: reports,
            readings: [])
        _ = hearing.endSilence(at: seconds(time))
        let (_, isListening) = hearing.record(second, of: gateway, at: seconds(time))
        _ = hearing.setListening(gateway, isListening, at: seconds(time))
        hearing.updateSilence(of: gateway)
    }

    @Test mutating func `A full table has no place, and the gateway that was never heard gives way first`() throws {
        let (card, known, silent) = (try add("card"), try add("known"), try add("silent"))
        hearing.restore(known)
        let kitchen = try room("Kitchen")
        hearing.recordCard(of: card, isConfigured: false, at: seconds(1))
        _ = hearing.place(card, in: kitchen, named: .named("Kitchen"), at: seconds(1))
        let new = hearing.addGateway("new")
        #expect(new == nil)
        #expect(hearing.idlestGateway(at: seconds(2)) == silent)
        hearing.replace(silent, by: "new")
        #expect(hearing.gateway(named: "new") == silent && hearing.gateway(named: "silent") == nil)
    }

    @Test mutating func `A finding about a full table comes once in ten minutes`() throws {
        for name in ["a", "b", "c"] { _ = try add(name) }
        var found: [Bool] = []
        for time in [1, 600, 601] as [Double] {
            found.append(hearing.findFullGateways(newest: "d", at: seconds(time)) != nil)
        }
        #expect(found == [true, false, true])
    }

    @Test mutating func `A gateway that moves leaves its former room`() throws {
        let (gateway, kitchen, hall) = (try add("k"), try room("Kitchen"), try room("Hall"))
        var moves: [Bool] = []
        for room in [kitchen, kitchen, hall] {
            let (isMoved, former) = hearing.place(gateway, in: room, named: .named("Room"), at: nil)
            #expect(former == (moves.isEmpty ? nil : kitchen))
            moves.append(isMoved)
        }
        #expect(moves == [true, false, true])
        #expect(hearing.rooms[kitchen].gateways.isEmpty && hearing.rooms[hall].gateways == [gateway])
    }

    @Test mutating func `A gateway is silent after 25 s, and a node is not while nobody knows what it sent`() throws {
        let (gateway, node) = (try add("g"), try add("n"))
        send(gateway, at: 10)
        send(node, startID: "", at: 10)
        hearing.recordTelemetry(of: node, at: seconds(10))
        #expect(hearing.silenceDue == seconds(10).advanced(bySeconds: 25))
        let early = hearing.removeSilent(at: seconds(34), isInterrupted: false)
        let late = hearing.removeSilent(at: seconds(100), isInterrupted: true)
        #expect(early == [] && late == [gateway])
    }

    @Test mutating func `Twelve seconds without any message are an interruption where a gateway listens`() throws {
        let gateway = try add("g")
        send(gateway, at: 2)
        var found: [Bool] = []
        for time in [14, 26.5] as [Double] { found.append(hearing.endSilence(at: seconds(time))) }
        #expect(found == [false, true])
    }

    @Test mutating func `A gateway that receives nothing for 40 s is deaf if another one receives`() throws {
        let (deaf, other) = (try add("d"), try add("o"))
        send(deaf, at: 1)
        for time in 2...45 {
            send(other, at: Double(time))
            send(deaf, at: Double(time), reports: 0)
        }
        #expect(hearing.gateways[deaf].isDeaf && !hearing.gateways[other].isDeaf)
    }

    @Test mutating func `Without a gateway that sends always, a departure needs no confirmation`() throws {
        let (gateway, kitchen) = (try add("g"), try room("Kitchen"))
        _ = hearing.place(gateway, in: kitchen, named: .named("Kitchen"), at: nil)
        guard case .none = hearing.confirmation(resumed: nil) else {
            Issue.record("nothing was heard yet")
            return
        }
        send(gateway, at: 10)
        guard case .message(let earliest) = hearing.confirmation(resumed: nil) else {
            Issue.record("its next message confirms")
            return
        }
        #expect(earliest == seconds(10))
    }
}
