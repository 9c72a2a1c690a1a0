import Base
import Beacon
import CFloor
import Glibc
import Scanning

/// The events of a capture in memory, so that no file is read while something is measured.
struct Corpus {
    let bytes: [UInt8]
    let events: [floor_event]
    /// Nanoseconds that one pass stands for: whole seconds, so that the beacons keep their rhythm from pass to pass.
    let span: Int64
    /// As the folder is named.
    let name: String

    init(folder: String) throws {
        var reader = try CaptureReader(path: folder + "/mixed.btsnoop")
        var bytes: [UInt8] = []
        var events: [floor_event] = []
        while let record = try reader.advance() {
            let offset = UInt32(bytes.count)
            reader.withEvent { event in
                for index in event.indices { bytes.append(event[index]) }
            }
            events.append(
                floor_event(
                    offset: offset, length: UInt16(bytes.count - Int(offset)),
                    receiver: UInt8(clamping: record.receiver.index),
                    nanoseconds: record.instant.nanoseconds))
        }
        let whole = (events.last?.nanoseconds ?? 0) / 1_000_000_000 * 1_000_000_000
        if whole > 0 {
            events = Array(events.prefix { $0.nanoseconds < whole })
        }
        name = folder.split(separator: "/").last.map(String.init) ?? folder
        self.bytes = bytes
        self.events = events
        span = max(whole, 1_000_000_000)
    }
}

extension Corpus {
    /// The iBeacons in it.
    var sightings: [(sighting: Sighting, nanoseconds: Int64)] {
        var parser = AdvertisingReportParser()
        var decoder = BeaconDecoder()
        var sightings: [(sighting: Sighting, nanoseconds: Int64)] = []
        for event in events {
            let start = Int(event.offset)
            let (receiver, now) = (
                Receiver(index: UInt16(event.receiver)), MonotonicInstant(nanoseconds: event.nanoseconds)
            )
            parser.parse(event: bytes.span.extracting(start..<start + Int(event.length))) { report, data in
                let found = decoder.sighting(in: data, of: report, by: receiver, at: now) { _ in }
                if let found { sightings.append((found, event.nanoseconds)) }
            }
        }
        return sightings
    }
}

/// Nanoseconds of processor time of this thread: what else runs on the machine counts as little as can be.
func processorTime() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
