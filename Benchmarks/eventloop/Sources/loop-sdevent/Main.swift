import CLoop
import CSDEvent
import Glibc
import LoopBench

private final class State {
    let task: Task
    let start: UInt64
    var events = 0
    var rings: UInt64 = 0
    var bell: Int32 = -1
    var timer: OpaquePointer?

    init(task: Task) {
        self.task = task
        start = bootTimeNanoseconds()
    }

    func arm(at nanoseconds: UInt64) {
        sd_event_source_set_time(timer, nanoseconds / 1_000)
        sd_event_source_set_enabled(timer, Int32(SD_EVENT_ONESHOT))
    }
}

private func rang(_ source: OpaquePointer?, _ descriptor: Int32, _ ready: UInt32, _ context: UnsafeMutableRawPointer?)
    -> Int32
{
    guard let context else { return 0 }
    let state = Unmanaged<State>.fromOpaque(context).takeUnretainedValue()
    state.events += 1
    state.rings += take(descriptor)
    if state.task == .io, state.events < Task.rounds {
        put(descriptor)
    } else if state.task == .io || state.rings >= Task.wakes {
        report("sd-event", state.task, events: state.events, since: state.start)
    }
    return 0
}

private func elapsed(_ source: OpaquePointer?, _ microseconds: UInt64, _ context: UnsafeMutableRawPointer?) -> Int32 {
    guard let context else { return 0 }
    let state = Unmanaged<State>.fromOpaque(context).takeUnretainedValue()
    state.events += 1
    switch state.task {
    case .timer where state.events < Task.rounds: state.arm(at: 1_000)
    case .wake: state.arm(at: bootTimeNanoseconds() + 100_000_000)
    default: report("sd-event", state.task, events: state.events, since: state.start)
    }
    return 0
}

@main struct Main {
    static func main() {
        let state = State(task: chosenTask())
        let context = Unmanaged.passUnretained(state).toOpaque()
        var event: OpaquePointer?
        var source: OpaquePointer?
        sd_event_new(&event)
        sd_event_set_watchdog(event, 1)
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        sigprocmask(SIG_BLOCK, &signals, nil)
        sd_event_add_signal(event, nil, SIGTERM, nil, nil)
        state.bell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        sd_event_add_io(event, &source, state.bell, EPOLLIN.rawValue, rang, context)
        sd_event_add_time(event, &state.timer, CLOCK_BOOTTIME, UInt64.max, 1, elapsed, context)
        switch state.task {
        case .io: put(state.bell)
        case .timer: state.arm(at: 1_000)
        case .wake:
            state.arm(at: state.start + 100_000_000)
            startRinging(state.bell)
        case .idle: state.arm(at: state.start + 1_000_000_000)
        }
        sd_event_loop(event)
        withExtendedLifetime(state) {}
    }
}
