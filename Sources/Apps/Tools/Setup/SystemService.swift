import Base
import DBus
import GatewayApp
import Glibc
import Runtime
import ServiceDiscovery
import Shell
import System

/// A systemd unit of this program.
struct SystemService {
    static let gateway = SystemService(unit: "ibeacon-gateway.service")
    static let rooms = SystemService(unit: "ibeacon-gateway-rooms.service")

    let unit: String

    /// Whether systemd runs this machine and knows the unit.
    var isInstalled: Bool {
        FileAccess.exists("/run/systemd/system")
            && ["/lib/systemd/system/", "/usr/lib/systemd/system/", "/etc/systemd/system/"].contains {
                FileAccess.exists($0 + unit)
            }
    }

    /// Whether a state of systemd means that the unit's program runs.
    static func isRunning(_ state: String) -> Bool { ["active", "reloading"].contains(state) }

    /// Whether the service runs: what systemd says, over D-Bus or else by `systemctl`.
    var isRunning: Bool {
        switch state() {
        case .state(let state): Self.isRunning(state)
        case .unknown: isActive
        }
    }

    /// Whether `systemctl` says that the service runs. It fails if it can ask nobody.
    var isActive: Bool { control("is-active", "--quiet") }

    /// Asks systemd over D-Bus, at most for two seconds.
    func state() -> UnitQuestion.Answer {
        do {
            let loop = try EventLoop()
            let host = LoopHost(loop: loop, log: Log(threshold: .error))
            let question = UnitQuestion(unit, bus: try BusConnection(to: UnitQuestion.busName, host: host)) {
                loop.exit(0)
            }
            let limit = host.at(Clocks.now().advanced(by: .seconds(2))) { loop.exit(0) }
            defer {
                question.stop()
                limit.cancel()
            }
            question.start()
            if question.answer == nil { _ = try loop.run() }
            return question.answer ?? .unknown("systemd does not answer on D-Bus")
        } catch {
            return .unknown("\(error)")
        }
    }

    /// Whether systemd starts the service with the machine.
    var isEnabled: Bool {
        isInstalled && FileAccess.exists("/etc/systemd/system/multi-user.target.wants/\(unit)")
    }

    /// Only root may start and stop services.
    var mayBeControlled: Bool { geteuid() == 0 }

    /// Runs `systemctl` with these words for this unit and waits for it.
    ///
    /// - Returns: Whether `systemctl` succeeded.
    func control(_ words: String...) -> Bool {
        OtherProgram.run(["systemctl"] + words + [unit], isCaptured: words.first == "is-active") != nil
    }
}
