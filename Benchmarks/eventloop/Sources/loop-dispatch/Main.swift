import CLoop
import Dispatch
import Glibc
import LoopBench

// libdispatch has no clock that counts through suspend on Linux: its timers run on CLOCK_MONOTONIC (deadline) or on
// the wall clock. A CLOCK_BOOTTIME timer is a timerfd of our own, watched as a descriptor, as below.
@main struct Main {
    static func main() {
        let task = chosenTask()
        let start = bootTimeNanoseconds()
        nonisolated(unsafe) var events = 0
        nonisolated(unsafe) var rings: UInt64 = 0
        let bell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        let timer = timerfd_create(CLOCK_BOOTTIME, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
        signal(SIGTERM, SIG_IGN)
        let term = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .main)
        term.setEventHandler { exit(0) }
        term.resume()
        let bellSource = DispatchSource.makeReadSource(fileDescriptor: bell, queue: .main)
        bellSource.setEventHandler {
            events += 1
            rings += take(bell)
            if task == .io { events < Task.rounds ? put(bell) : report("dispatch", task, events: events, since: start) }
            if task == .wake, rings >= Task.wakes { report("dispatch", task, events: events, since: start) }
        }
        bellSource.resume()
        let timerSource = DispatchSource.makeReadSource(fileDescriptor: timer, queue: .main)
        timerSource.setEventHandler {
            events += 1
            take(timer)
            switch task {
            case .timer:
                events < Task.rounds ? arm(timer, at: 1) : report("dispatch", task, events: events, since: start)
            case .wake: arm(timer, at: bootTimeNanoseconds() + 100_000_000)
            default: report("dispatch", task, events: events, since: start)
            }
        }
        timerSource.resume()
        switch task {
        case .io: put(bell)
        case .timer: arm(timer, at: 1)
        case .wake:
            arm(timer, at: start + 100_000_000)
            startRinging(bell)
        case .idle: arm(timer, at: start + 1_000_000_000)
        }
        dispatchMain()
    }

    static func arm(_ timer: Int32, at nanoseconds: UInt64) {
        var value = itimerspec()
        value.it_value.tv_sec = time_t(nanoseconds / 1_000_000_000)
        value.it_value.tv_nsec = Int(nanoseconds % 1_000_000_000)
        timerfd_settime(timer, Int32(TFD_TIMER_ABSTIME), &value, nil)
    }
}
