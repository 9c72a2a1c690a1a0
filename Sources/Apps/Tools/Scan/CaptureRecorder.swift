import Base
import Beacon
import Scanning
import System

/// A capture that is being written.
final class CaptureRecorder {
    private var writer: CaptureWriter
    private(set) var failure: CaptureError?

    init(_ path: String) throws(Failure) {
        writer = try mapError({ Failure(.cannotCreate, "\($0)") }) { () throws(CaptureError) in
            try CaptureWriter(path: path)
        }
    }

    func write(_ report: AdvertisingReport, data: Span<UInt8>, by receiver: Receiver) {
        guard failure == nil else { return }
        do throws(CaptureError) {
            let microseconds = Clocks.wallNanoseconds() / 1_000
            try writer.write(report, data: data, wallMicroseconds: microseconds, receiver: receiver)
        } catch {
            failure = error
        }
    }

    func flush() {
        do throws(CaptureError) {
            try writer.flush()
        } catch {
            failure = failure ?? error
        }
    }
}
