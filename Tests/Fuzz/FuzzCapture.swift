// The btsnoop reader over arbitrary files.
import Base
import Beacon
import Glibc
import Scanning

/// A file in memory that each input is written to.
private let file: CInt = {
    let name = "/ibeacon-gateway-fuzz-\(getpid())"
    defer { shm_unlink(name) }
    return shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0o600)
}()

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard unsafe pwrite(file, bytes, count, 0) == count, ftruncate(file, count) == 0 else { return -1 }
    var parser = AdvertisingReportParser()
    var latest = MonotonicInstant.zero
    var events: UInt64 = 0
    do throws(CaptureError) {
        var reader = try CaptureReader(path: "/proc/self/fd/\(file)")
        while try reader.next({ record, event in
            require(record.instant >= latest, "time runs backwards")
            require(event.count <= count)
            latest = record.instant
            events += 1
            parser.parse(event: event) { _, _ in }
        }) {}
        require(reader.records >= events)
        require(reader.records <= UInt64(count / 24))
    } catch {
        require(error.offset <= count, "the fault lies behind the end")
        require(!error.description.isEmpty)
    }
    return 0
}
