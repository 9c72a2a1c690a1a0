import Glibc
import Runtime
import System

/// The signals that end a command that listens, as events of its loop: the radio is left as it was found before the program ends.
/// A monitor of the kernel outlives the program, and the adapter scans while there is one.
final class Interruption {
    private var watches: [SignalWatch] = []
    /// The first signal that has come.
    private(set) var signal: Int32?

    /// Ctrl+C, a service manager, and a session that is lost. `nohup` asks to survive the last.
    static var signals: [Int32] { [SIGTERM, SIGINT] + (isIgnored(SIGHUP) ? [] : [SIGHUP]) }

    init(_ loop: EventLoop) throws(SystemError) {
        for number in Self.signals {
            watches.append(try loop.onSignal(number) { [unowned self] in signal = signal ?? number })
        }
    }

    deinit {
        // What the program does next ends by these signals as usual.
        watches = []
        for number in Self.signals { Terminal.unblock(number) }
    }

    /// Ends the program by the signal that has come, if any, as if it had not been caught.
    func endProgram() {
        if let signal { Terminal.end(by: signal) }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: UInt.self)
            == unsafeBitCast(SIG_IGN, to: UInt.self)
    }
}
