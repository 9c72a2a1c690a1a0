import Base
import Runtime

extension Daemon {
    /// A handler that takes long keeps the radio waiting: somebody should know.
    func watchTurns() {
        loop.onSlowTurn = { [unowned self] turn in
            log.once("turn", .warning, "something took \(decimal(turn)) s; the radio had to wait for it")
        }
    }

    func tellLongestTurn() {
        let milliseconds = Int64((loop.longestTurn / .milliseconds(1)).rounded(.up))
        log.always(.debug, "longest turn of the loop: \(milliseconds) ms")
    }
}
