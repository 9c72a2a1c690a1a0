package import Base
package import Beacon
import Gateway
import ReadingFeed
import Runtime
import Shell

extension Service: RadioOutput {
    package func heard(_ sighting: Sighting, at instant: MonotonicInstant) {
        monitor.record(sighting, at: instant)
        if readingFeed?.isOn == true { feed(.sighting(sighting), at: instant) }
        app.handle(.sighting(sighting), at: instant)
    }

    package func heard(_ telemetry: BeaconTelemetry, at instant: MonotonicInstant) {
        app.handle(.telemetry(telemetry), at: instant)
    }

    package func listening(
        _ isListening: Bool, of receiver: Receiver, duty: Double?, at instant: MonotonicInstant,
        because reason: String
    ) {
        log.info("\(isListening ? "listening" : "not listening"): \(reason)")
        if isListening {
            // The duty that another scanner set before holds no longer.
            let duty = duty ?? 1
            app.handle(.scanDuty(receiver, duty), at: instant)
            feed(.scanDuty(receiver, duty), at: instant)
        }
        feed(.listening(receiver, isListening), at: instant)
        app.handle(.listening(receiver, isListening), at: instant)
        app.changed()
    }

    package func pausing(_ isPausing: Bool, of receiver: Receiver, at instant: MonotonicInstant) {
        log.debug("\(isPausing ? "pauses" : "goes on"): hci\(receiver.index)")
        feed(.listening(receiver, !isPausing), at: instant)
        app.handle(.listening(receiver, !isPausing), at: instant)
    }

    package func notice(_ notice: Notice) {
        guard notice.priority <= .warning else { return log.write(notice.priority, notice.text) }
        // A broken adapter fails again every few seconds. A number in a line, such as that of lost packets, makes no other kind.
        let kind = notice.text.split(separator: " ").filter { Int($0) == nil }.joined(separator: " ")
        log.once("radio: \(kind)", notice.priority, notice.text)
    }

    package func finished(at instant: MonotonicInstant) {
        log.notice("the recording has ended; nothing is heard from now on")
    }
}
