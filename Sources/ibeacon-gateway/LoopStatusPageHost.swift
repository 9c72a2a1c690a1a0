internal import Beacon
internal import Runtime
internal import StatusPage

/// Gives the status page what it needs of the event loop.
final class LoopStatusPageHost: StatusPageHost {
    private let loop: EventLoop
    private let log: Log

    init(loop: EventLoop, log: Log) {
        self.loop = loop
        self.log = log
    }

    var now: MonotonicInstant { Clocks.now() }

    func whenReadable(_ descriptor: CInt, _ handler: @escaping () -> Void) -> any StatusPageHostToken {
        LoopToken.descriptor(descriptor, loop, log, handler)
    }

    func at(_ instant: MonotonicInstant, _ handler: @escaping () -> Void) -> any StatusPageHostToken {
        LoopToken.timer(instant, loop, log, handler)
    }
}

extension LoopToken: StatusPageHostToken {}
