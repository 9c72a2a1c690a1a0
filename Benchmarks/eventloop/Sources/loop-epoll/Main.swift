import CLoop
import Glibc
import LoopBench

/// The loop by hand: epoll, timerfd, eventfd, signalfd. No timer queue, no priorities, no watchdog, no floating
/// sources, no removal during dispatch: all of that would still have to be written.
@main struct Main {
    static func main() {
        let task = chosenTask()
        let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        let bell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        let timer = timerfd_create(CLOCK_BOOTTIME, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        sigprocmask(SIG_BLOCK, &signals, nil)
        let signal = signalfd(-1, &signals, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
        for descriptor in [bell, timer, signal] {
            var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(fd: descriptor))
            epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event)
        }
        let start = bootTimeNanoseconds()
        switch task {
        case .io: put(bell)
        case .timer: arm(timer, at: 1)
        case .wake:
            arm(timer, at: start + 100_000_000)
            startRinging(bell)
        case .idle: arm(timer, at: start + 1_000_000_000)
        }
        var events = 0
        var rings: UInt64 = 0
        var ready = [epoll_event](repeating: epoll_event(), count: 16)
        while true {
            let count = epoll_wait(epoll, &ready, Int32(ready.count), -1)
            for index in 0..<Int(max(0, count)) {
                events += 1
                switch ready[index].data.fd {
                case bell:
                    rings += take(bell)
                    if task == .io {
                        events < Task.rounds ? put(bell) : report("epoll", task, events: events, since: start)
                    }
                    if task == .wake, rings >= Task.wakes { report("epoll", task, events: events, since: start) }
                case timer:
                    take(timer)
                    switch task {
                    case .timer:
                        events < Task.rounds ? arm(timer, at: 1) : report("epoll", task, events: events, since: start)
                    case .wake: arm(timer, at: bootTimeNanoseconds() + 100_000_000)
                    default: report("epoll", task, events: events, since: start)
                    }
                default: exit(0)
                }
            }
        }
    }

    static func arm(_ timer: Int32, at nanoseconds: UInt64) {
        var value = itimerspec()
        value.it_value.tv_sec = time_t(nanoseconds / 1_000_000_000)
        value.it_value.tv_nsec = Int(nanoseconds % 1_000_000_000)
        timerfd_settime(timer, Int32(TFD_TIMER_ABSTIME), &value, nil)
    }
}
