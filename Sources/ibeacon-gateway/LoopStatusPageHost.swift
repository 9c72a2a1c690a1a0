internal import Beacon
internal import Runtime
internal import StatusPage

/// Gives the status page what it needs of the event loop. Radio, store and broker go first: however many look,
/// who comes or goes is told later by no more than one turn of sending.
final class LoopStatusPageHost: StatusPageHost {
    private let loop: EventLoop
    private let log: Log

    init(loop: EventLoop, log: Log) {
        self.loop = loop
        self.log = log
    }

    var now: MonotonicInstant { Clocks.now() }

    func whenReadable(_ descriptor: CInt, _ handler: @escaping () -> Void) -> any StatusPageHostToken {
        LoopToken.descriptor(descriptor, loop, log, goesLast: true, handler)
    }

    func at(_ instant: MonotonicInstant, _ handler: @escaping () -> Void) -> any StatusPageHostToken {
        LoopToken.timer(instant, loop, log, goesLast: true, handler)
    }
}

extension LoopToken: StatusPageHostToken {}
