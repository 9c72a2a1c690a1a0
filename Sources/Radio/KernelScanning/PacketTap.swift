package import Base
package import Beacon

/// Hands over every advertising packet that adapters receive, whichever scanner listens through them.
///
/// Each adapter has a raw HCI socket for this alone. A scanner may choose what it takes, and must know when it listens; with a socket
/// of its own, the tap changes neither, and a flood that overflows it costs the scanner nothing.
package final class PacketTap {
    /// Takes one packet. `data` is valid only during the call.
    package typealias Output = (AdvertisingReport, Span<UInt8>, Receiver) -> Void

    private let host: any EventHost
    private let kernel: any KernelBluetooth
    private let output: Output
    private var sources: [Receiver: Source] = [:]
    /// Packets of each adapter that the kernel dropped because they were not read in time.
    package private(set) var lost: [Receiver: UInt64] = [:]

    package convenience init(host: any EventHost, output: @escaping Output) {
        self.init(host: host, kernel: RunningKernel(), output: output)
    }

    init(host: any EventHost, kernel: any KernelBluetooth, output: @escaping Output) {
        (self.host, self.kernel, self.output) = (host, kernel, output)
    }

    /// Whether the packets of an adapter come from here. Without CAP_NET_RAW the kernel withholds them, and the scanner's have to do.
    package func hears(_ receiver: Receiver) -> Bool { sources[receiver]?.reader.isOpen ?? false }

    /// Opens what is not open yet, closes what is not wanted any longer, and counts what was lost. An adapter that was unplugged is
    /// opened again by a later call.
    package func listen(to receivers: [Receiver]) {
        for (receiver, source) in sources {
            lost[receiver, default: 0] += UInt64(source.reader.lostPackets())
            if !receivers.contains(receiver) { sources[receiver] = nil }
        }
        guard kernel.holds(.netRaw) else { return }
        for receiver in receivers where !hears(receiver) {
            let source = Source(receiver, HCIReader(receiver.index, host: host, kernel: kernel), output)
            source.reader.open(HCIFilter(opcodes: [], hasReports: true))
            sources[receiver] = source.reader.isOpen ? source : nil
        }
    }

    /// The socket of one adapter.
    private final class Source: HCIReaderDelegate {
        let receiver: Receiver
        let reader: HCIReader
        private let output: Output
        private var parser = AdvertisingReportParser()

        init(_ receiver: Receiver, _ reader: HCIReader, _ output: @escaping Output) {
            (self.receiver, self.reader, self.output) = (receiver, reader, output)
            reader.delegate = self
        }

        func received(event: Span<UInt8>) {
            parser.parse(event: event) { output($0, $1, receiver) }
        }

        func saw(command opcode: UInt16, parameters: Span<UInt8>) {}
        func answered(_ opcode: UInt16, status: UInt8, result: Span<UInt8>) {}
        func readerFailed(_ reason: String) {}
    }
}
