import Beacon
import Testing

@testable import Scanning

@Suite("What is recorded reads the same again")
struct CaptureWriterTests {
    @Test("events, times and adapters, in every datalink", arguments: BtsnoopFormat.Datalink.allCases)
    func events(datalink: BtsnoopFormat.Datalink) throws {
        let source = play(fixture("stay-and-walk.btsnoop"))
        let file = TemporaryFile()
        var writer = try CaptureWriter(path: file.path, datalink: datalink)
        for (index, event) in source.events.enumerated() {
            try writer.write(
                event: event.span, wallMicroseconds: source.wallMicroseconds[index],
                receiver: Receiver(index: source.receivers[index]))
        }
        try writer.close()
        let copy = play(file.path)
        #expect(copy.error == nil)
        #expect(copy.events == source.events)
        #expect(copy.wallMicroseconds == source.wallMicroseconds)
        #expect(copy.receivers == (datalink == .monitor ? source.receivers : source.receivers.map { _ in 0 }))
    }

    @Test("a packet without its event gets one", arguments: [0, 3, 31, 32, 200, 229], [-60, nil] as [Int8?])
    func packets(length: Int, rssi: Int8?) throws {
        let data = (0..<length).map { UInt8($0 & 255) }
        let address = DeviceAddress(value: 0xc0ff_ee00_0001, isRandom: true)
        let file = TemporaryFile()
        var writer = try CaptureWriter(path: file.path)
        try writer.write(
            AdvertisingReport(address: address, rssi: rssi.flatMap(RSSI.init(reported:))), data: data.span,
            wallMicroseconds: 1, receiver: Receiver(index: 2))
        try writer.close()
        var reader = try CaptureReader(path: file.path)
        var parser = AdvertisingReportParser()
        var found: [[UInt8]] = []
        while try reader.next({ record, event in
            #expect(record.receiver.index == 2)
            parser.parse(event: event) { report, data in
                #expect(report.address == address)
                #expect(report.rssi?.dBm == rssi)
                found.append((0..<data.count).map { data[$0] })
            }
        }) {}
        #expect(found == [data])
        #expect(parser.malformed.total == 0)
    }

    @Test("a full disk is told")
    func fullDisk() throws {
        var writer = try CaptureWriter(path: "/dev/full")
        do throws(CaptureError) {
            try writer.flush()
            Issue.record("writing to /dev/full succeeded")
        } catch {
            #expect(error.description == "/dev/full: cannot be written: No space left on device")
        }
    }
}
