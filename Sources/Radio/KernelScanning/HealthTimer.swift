import Base
import Scanning

/// Calls for a tick whenever the health of one of a scanner's adapters wants one.
final class HealthTimer {
    private let host: any EventHost
    private var timer: (any EventRegistration)?

    init(host: any EventHost) { self.host = host }

    func start(_ watches: @escaping () -> [AdapterWatch], tick: @escaping () -> Void) {
        let now = host.now
        let pause = watches().map { $0.health.nextTick(after: now) }.min() ?? .seconds(1)
        timer = host.at(now.advanced(by: pause)) { [weak self] in
            tick()
            self?.start(watches, tick: tick)
        }
    }

    func stop() {
        timer?.cancel()
        timer = nil
    }
}
