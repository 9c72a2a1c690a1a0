import Base
import Beacon
import Gateway
import OwnTracks
import Runtime
import Scanning

extension Daemon: ScannerOutput {
    func startScanner() {
        let host = LoopHost(loop: loop, log: log)
        do throws(ScannerError) {
            let scanner = try settings.makeScanner(host: host, output: self)
            self.scanner = scanner
            try scanner.start()
        } catch {
            log.error("cannot scan: \(error)")
        }
    }

    func heard(
        _ report: AdvertisingReport, data: Span<UInt8>, by receiver: Receiver, at instant: MonotonicInstant
    ) {
        guard let sighting = recognised.sighting(in: data, of: report, by: receiver) else { return }
        desk.heard(sighting, at: instant)
        take(.sighting(sighting), at: instant)
    }

    func listening(_ isListening: Bool, of receiver: Receiver, at instant: MonotonicInstant, because reason: String) {
        log.info("\(isListening ? "listening" : "not listening"): \(reason)")
        if isListening, let duty = scanner?.adapters.first(where: { $0.receiver == receiver })?.duty {
            take(.scanDuty(receiver, duty), at: instant)
        }
        take(.listening(receiver, isListening), at: instant)
        statusChanged()
    }

    func notice(_ notice: ScannerNotice) {
        switch notice.level {
        case .debug: log.debug(notice.text)
        case .info: log.info(notice.text)
        case .warning: log.warning(notice.text)
        case .error: log.error(notice.text)
        }
    }

    func finished(at instant: MonotonicInstant) {
        log.notice("the recording has ended; from here on there is silence")
    }
}
