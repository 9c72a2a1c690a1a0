import Base
import JSON
import Testing

@testable import OwnTracks

/// Who has no key can repeat an encrypted command, and nobody can change one: each envelope is obeyed once.
@Suite struct ObeyedEnvelopesTests {
    private static let rights = CommandGate.Rights(
        obeysCommands: true, allowsRemoteConfiguration: true, needsEncryption: true)

    private func envelope(_ number: Int, index: Int = 0, time: Int64? = nil) -> CommandEnvelope {
        CommandEnvelope(
            nonce: [UInt8](repeating: 7, count: 22) + [UInt8(number >> 8), UInt8(number & 0xff)], index: index,
            time: time)
    }

    private func received(
        _ envelope: CommandEnvelope?, tracker: Int = 0, _ command: Command = .clearWaypoints, isRetained: Bool = false
    ) -> ReceivedCommand {
        ReceivedCommand(
            tracker: tracker, command: .success(command), isRetained: isRetained, wasEncrypted: true, digest: nil,
            envelope: envelope)
    }

    /// Carries a command out, as a service does.
    private func obey(_ gate: inout CommandGate, _ received: ReceivedCommand, at epoch: Int64? = nil) -> Bool {
        guard case .admitted = gate.admit(received, Self.rights, applied: AppliedCommands()) else { return false }
        _ = gate.remember(received, at: epoch)
        return true
    }

    private static let commands: [Command] = [
        .reportLocation, .waypoints, .setWaypoints(WaypointsReading()), .clearWaypoints,
        .setConfiguration(.object([:]), waypoints: nil), .dump, .status,
    ]

    @Test(arguments: commands)
    func `Each command is obeyed once, and then refused on every topic`(command: Command) {
        var gate = CommandGate(of: .gateway)
        let obeyed = [0, 0, 1].map { obey(&gate, received(envelope(1), tracker: $0, command)) }
        #expect(obeyed == [true, false, false])
        #expect(gate.counts[.repeated] == 2)
        let isOtherObeyed = obey(&gate, received(envelope(2), command))
        #expect(isOtherObeyed)
    }

    @Test func `Commands of one envelope are different ones`() {
        var gate = CommandGate(of: .gateway)
        let obeyed = [0, 1, 0, 1].map { obey(&gate, received(envelope(1, index: $0))) }
        #expect(obeyed == [true, true, false, false])
    }

    @Test func `A plain command is obeyed each time`() {
        var gate = CommandGate(of: .rooms)
        let plain = received(nil)
        let obeyed = [obey(&gate, plain), obey(&gate, plain)]
        #expect(obeyed == [true, true])
    }

    @Test func `A retained setWaypoints is not applied again, and that is no refusal`() {
        var gate = CommandGate(of: .gateway)
        let command = Command.setWaypoints(WaypointsReading())
        let isApplied = obey(&gate, received(envelope(1), command, isRetained: true))
        #expect(isApplied)
        let again = received(envelope(1), command, isRetained: true)
        #expect(gate.admit(again, Self.rights, applied: AppliedCommands()) == .appliedBefore)
        let isObeyed = obey(&gate, received(envelope(1), command))
        #expect(!isObeyed)
        #expect(gate.counts.refused == 1)
    }

    @Test func `A live command that is retained by a stranger is not applied again`() {
        var gate = CommandGate(of: .gateway)
        let command = Command.setWaypoints(WaypointsReading())
        let isObeyed = obey(&gate, received(envelope(1), command))
        #expect(isObeyed)
        let retained = received(envelope(1), command, isRetained: true)
        #expect(gate.admit(retained, Self.rights, applied: AppliedCommands()) == .appliedBefore)
    }

    @Test func `A command that was refused is obeyed once it is allowed`() {
        var gate = CommandGate(of: .gateway)
        let rights = CommandGate.Rights(obeysCommands: false, allowsRemoteConfiguration: false, needsEncryption: true)
        _ = gate.admit(received(envelope(1)), rights, applied: AppliedCommands())
        let isObeyed = obey(&gate, received(envelope(1)))
        #expect(isObeyed)
    }

    // MARK: What is forgotten

    /// As many commands as are remembered, one a second from `start` on, and one more.
    private func filled(from start: Int64, withTime: Bool, at epoch: Int64? = nil) -> ObeyedEnvelopes {
        var envelopes = ObeyedEnvelopes()
        for number in 0...ObeyedEnvelopes.most {
            let time = withTime ? start + Int64(number) : nil
            envelopes.remember(envelope(number, time: time), at: epoch.map { $0 + Int64(number) })
        }
        return envelopes
    }

    @Test func `The newest thousand are remembered, whatever their time`() {
        let envelopes = filled(from: 100, withTime: false)
        #expect(!envelopes.contains(envelope(0)))
        #expect((1...ObeyedEnvelopes.most).allSatisfy { envelopes.contains(envelope($0)) })
    }

    @Test func `A command that is no newer than a forgotten one is refused by its time`() {
        let envelopes = filled(from: 100, withTime: true)
        for (time, isRefused) in [(Int64.min, true), (99, true), (100, true), (101, false), (.max, false)] {
            #expect(envelopes.contains(envelope(5000, time: time)) == isRefused, "\(time)")
        }
        #expect(!envelopes.contains(envelope(5000)))
    }

    @Test func `A forgotten command without a time counts with the time at which it was obeyed`() {
        let envelopes = filled(from: 0, withTime: false, at: 500)
        #expect(envelopes.contains(envelope(5000, time: 500)) && !envelopes.contains(envelope(5000, time: 501)))
        #expect(!filled(from: 0, withTime: false).contains(envelope(5000, time: 1)))
    }

    @Test func `A time in the future does not keep later commands out`() {
        var envelopes = ObeyedEnvelopes()
        envelopes.remember(envelope(0, time: .max), at: 1000)
        for number in 1...ObeyedEnvelopes.most { envelopes.remember(envelope(number, time: 900), at: 1001) }
        #expect(!envelopes.contains(envelope(5000, time: 1001)))
        #expect(envelopes.contains(envelope(5000, time: 1000)))
    }

    @Test func `Before anything is forgotten a time decides nothing`() {
        var envelopes = ObeyedEnvelopes()
        envelopes.remember(envelope(0, time: 1000), at: 1000)
        #expect(!envelopes.contains(envelope(1, time: 1)))
    }

    // MARK: In the store

    @Test func `What was stored is read again, and is bounded`() {
        for envelopes in [
            ObeyedEnvelopes(), filled(from: 100, withTime: true), filled(from: 0, withTime: false, at: 9),
        ] {
            #expect(ObeyedEnvelopes(bytes: envelopes.bytes) == envelopes)
            #expect(envelopes.bytes.count <= 16 * ObeyedEnvelopes.most + 8)
        }
    }

    @Test func `Anything else in the store is nothing`() {
        let bytes = filled(from: 100, withTime: true).bytes
        for damaged in [[], [1], Array(bytes.dropLast()), Array(bytes.dropLast(8))] as [[UInt8]] {
            #expect(ObeyedEnvelopes(bytes: damaged) == ObeyedEnvelopes())
        }
        // More than are remembered.
        #expect(ObeyedEnvelopes(bytes: bytes + bytes.dropFirst(8)).bytes.count == bytes.count)
    }
}
