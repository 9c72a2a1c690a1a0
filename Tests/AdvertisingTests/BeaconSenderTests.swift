import Base
import Beacon
import HostSupport
import KernelScanning
import Scanning
import System
import Testing

@testable import Advertising

/// A management channel whose every word the test writes.
private final class FakeChannel: ManagementChannel {
    var onMessage: ((Span<UInt8>, MonotonicInstant) -> Void)?
    var onFailure: ((String) -> Void)?
    private(set) var isOpen = false
    private var commands: [ManagementCommand] = []

    func open() { isOpen = true }
    func close() { isOpen = false }
    func send(_ command: ManagementCommand) throws(SystemError) { commands.append(command) }

    func drain() -> [String] {
        defer { commands = [] }
        return commands.map { "\($0.opcode)" }
    }

    func answers(_ opcode: ManagementCommand.Opcode, _ index: UInt16 = 0, status: UInt8 = 0, _ result: [UInt8] = []) {
        says(0x0001, index, [UInt8(opcode.rawValue & 0xff), UInt8(opcode.rawValue >> 8), status] + result)
    }

    func says(_ code: UInt8, _ index: UInt16, _ parameters: [UInt8]) {
        let message = [code, 0, UInt8(index), 0, UInt8(parameters.count), 0] + parameters
        onMessage?(message.span, .zero)
    }

    /// An adapter with this last octet of its address, powered, with Low Energy.
    func informs(_ index: UInt16, address: UInt8) {
        answers(
            .readControllerInformation, index,
            [address, 0, 0, 0, 0, 0xaa, 9, 0, 0] + [1, 2, 0, 0] + [1, 2, 0, 0] + [0, 0, 0])
    }
}

/// What sends the beacon, over a channel of the test.
@Suite struct BeaconSenderTests {
    private static let beacon = BeaconID(uuid: BeaconUUID(high: 1, low: 2), major: 0, minor: 3)
    private let host = ManualHost()

    private final class Kernel {
        var channel: FakeChannel?
        var refusal: ScannerError?
        var opened = 0
    }
    private let kernel = Kernel()

    private func sender(_ selection: AdapterSelection = .all) -> BeaconSender {
        BeaconSender(selection, host: host, pauseScan: { _, _ in }) { [kernel] () throws(ScannerError) in
            if let refusal = kernel.refusal { throw refusal }
            let channel = FakeChannel()
            (kernel.channel, kernel.opened) = (channel, kernel.opened + 1)
            return channel
        }
    }

    private func sends(_ channel: FakeChannel) {
        channel.answers(.readAdvertisingFeatures, 0, [0xff, 0xff, 1, 0, 31, 31, 5, 0])
        channel.answers(.addExtendedAdvertisingParameters, 0, [5, 7, 31, 31])
        channel.answers(.addExtendedAdvertisingData, 0, [5])
    }

    @Test func `There is a socket while a beacon is wanted or on the air, and none before and after`() throws {
        let sender = sender()
        sender.remove([])
        sender.send(nil)
        #expect(kernel.opened == 0)
        sender.send(Self.beacon)
        let channel = try #require(kernel.channel)
        #expect(channel.drain() == ["readIndexList"])
        channel.answers(.readIndexList, 0xff, [1, 0, 0, 0])
        #expect(channel.drain() == ["readControllerInformation"])
        channel.informs(0, address: 1)
        sends(channel)
        #expect(sender.state == .sends(adapter: 0, interval: .seconds(1), burst: nil))
        _ = channel.drain()
        sender.send(nil)
        #expect(channel.drain() == ["removeAdvertising"] && channel.isOpen)
        channel.answers(.removeAdvertising, 0, [5])
        #expect(!channel.isOpen && kernel.opened == 1 && sender.state == .off)
    }

    @Test func `An adapter that the setting leaves out sends nothing`() throws {
        let sender = sender(.index(1))
        sender.send(Self.beacon)
        let channel = try #require(kernel.channel)
        _ = channel.drain()
        channel.informs(0, address: 1)
        #expect(channel.drain() == [])
        channel.informs(1, address: 2)
        #expect(channel.drain() == ["readAdvertisingFeatures"])
    }

    @Test func `Without a socket the refusal says why, and a minute later it is tried again`() throws {
        let sender = sender()
        var changes = 0
        sender.onChange = { changes += 1 }
        kernel.refusal = ScannerError(.unavailable, "the kernel has no Bluetooth")
        sender.send(Self.beacon)
        guard case .refused(let problem) = sender.state else {
            Issue.record("\(sender.state)")
            return
        }
        #expect(problem.text == "the kernel cannot be asked to send it: the kernel has no Bluetooth")
        #expect(changes > 0)
        kernel.refusal = nil
        host.advance(by: .seconds(60))
        let channel = try #require(kernel.channel)
        channel.informs(0, address: 1)
        sends(channel)
        #expect(sender.state == .sends(adapter: 0, interval: .seconds(1), burst: nil))
    }

    @Test func `What was on the air when the socket failed is removed through the next one`() throws {
        let sender = sender()
        sender.send(Self.beacon)
        let channel = try #require(kernel.channel)
        channel.informs(0, address: 1)
        sends(channel)
        let places = sender.places
        #expect(places.map(\.instance) == [5])
        channel.onFailure?("no buffer")
        #expect(!channel.isOpen && sender.places == places)
        host.advance(by: .seconds(60))
        let next = try #require(kernel.channel)
        #expect(next !== channel)
        _ = next.drain()
        next.informs(0, address: 1)
        #expect(next.drain() == ["removeAdvertising"])
    }

    @Test func `A message that is cut is left out`() throws {
        let sender = sender()
        sender.send(Self.beacon)
        let channel = try #require(kernel.channel)
        for message in [[1, 0], [1, 0, 0, 0, 2, 0, 0x3d, 0], [0x24, 0, 0, 0, 0, 0], [0x06, 0, 0, 0, 1, 0, 1]]
            as [[UInt8]]
        {
            channel.onMessage?(message.span, .zero)
        }
        #expect(sender.state == .asked)
    }
}
