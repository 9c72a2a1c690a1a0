import Base
import Beacon
import HostSupport
import System
import Testing

@testable import KernelScanning

@Suite struct PacketTapTests {
    private final class Fixture {
        let kernel = ScriptedKernel()
        private(set) var packets: [String] = []
        private(set) lazy var tap = PacketTap(host: kernel.host, kernel: kernel) {
            [unowned self] report, data, receiver in
            packets.append("\(receiver.index) \(report.address) \(report.rssi?.dBm ?? 0) \(data.count)")
        }

        func receives(_ index: UInt16) throws {
            let socket = try #require(kernel.hci[index])
            socket.queue.append(ScriptedKernel.advertisingReport)
            kernel.host.becomeReadable(socket.descriptor)
        }
    }

    private let fixture = Fixture()
    private let first = Receiver(index: 0)
    private let second = Receiver(index: 1)

    @Test("Every report of a wanted adapter is handed over, with its data, and of no other adapter")
    func packets() throws {
        fixture.kernel.adapters = [0, 1]
        fixture.tap.listen(to: [second])
        #expect(!fixture.tap.hears(first) && fixture.tap.hears(second))
        try fixture.receives(1)
        #expect(fixture.packets == ["1 06:05:04:03:02:01 -1 3"])
        #expect(fixture.kernel.hci[0] == nil)
    }

    @Test("The socket lets reports through and no command, so that it learns nothing that a scanner must see")
    func filter() throws {
        fixture.tap.listen(to: [first])
        let filter = try #require(fixture.kernel.hci[0]?.filter)
        #expect(filter == HCIFilter(opcodes: [], hasReports: true))
        #expect(fixture.kernel.hci[0]?.commands.isEmpty == true)
    }

    @Test("An adapter that is not wanted any longer is closed")
    func closed() {
        fixture.tap.listen(to: [first])
        fixture.tap.listen(to: [])
        #expect(!fixture.tap.hears(first))
    }

    @Test("An adapter that fails is opened again when it is back")
    func back() throws {
        fixture.tap.listen(to: [first])
        let socket = try #require(fixture.kernel.hci[0])
        socket.failure = SystemError("read", code: 19)
        fixture.kernel.host.becomeReadable(socket.descriptor)
        #expect(!fixture.tap.hears(first))
        fixture.kernel.adapters = []
        fixture.tap.listen(to: [first])
        #expect(!fixture.tap.hears(first))
        fixture.kernel.adapters = [0]
        fixture.tap.listen(to: [first])
        #expect(fixture.tap.hears(first))
    }

    @Test("Without the right to see packets nothing is opened")
    func noRight() {
        fixture.kernel.capabilities = [.netAdmin]
        fixture.tap.listen(to: [first])
        #expect(!fixture.tap.hears(first))
        #expect(fixture.kernel.hci.isEmpty)
    }

    @Test("What the kernel dropped is counted once, and remembered when the adapter is closed")
    func lost() throws {
        fixture.tap.listen(to: [first])
        try #require(fixture.kernel.hci[0]).drops = 3
        fixture.tap.listen(to: [first])
        fixture.tap.listen(to: [first])
        #expect(fixture.tap.lost == [first: 3])
        try #require(fixture.kernel.hci[0]).drops = 5
        fixture.tap.listen(to: [])
        fixture.tap.listen(to: [first])
        #expect(fixture.tap.lost == [first: 5])
    }
}
