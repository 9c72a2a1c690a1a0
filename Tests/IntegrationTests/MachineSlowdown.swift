import Glibc
import Synchronization
import TestSupport

/// How busy the machine is beside a test. A thread computes a little now and again, and compares the time that passes with the
/// processor time that it gets. What the program takes for a step is held against a limit that grows with it.
final class MachineSlowdown {
    fileprivate final class Measurement: Sendable {
        private let state = Mutex((worst: 1.0, isOver: false))
        var worst: Double { state.withLock { $0.worst } }

        func run() {
            while !state.withLock({ $0.isOver }) {
                let factor = Self.factor()
                state.withLock { $0.worst = max($0.worst, factor) }
                usleep(90_000)
            }
        }

        func end() { state.withLock { $0.isOver = true } }

        /// Of ten milliseconds of processor time.
        private static func factor() -> Double {
            let (start, used) = (Self.time(CLOCK_MONOTONIC), Self.time(CLOCK_THREAD_CPUTIME_ID))
            while time(CLOCK_THREAD_CPUTIME_ID) - used < .milliseconds(10) {}
            return (Self.time(CLOCK_MONOTONIC) - start) / (Self.time(CLOCK_THREAD_CPUTIME_ID) - used)
        }

        private static func time(_ clock: clockid_t) -> Duration {
            var now = timespec()
            clock_gettime(clock, &now)
            return .seconds(now.tv_sec) + .nanoseconds(now.tv_nsec)
        }
    }

    private let measurement = Measurement()
    private let thread: pthread_t

    init() throws {
        let context = Unmanaged.passRetained(measurement)
        var thread = pthread_t()
        let status = pthread_create(&thread, nil, measure, context.toOpaque())
        guard status == 0 else {
            context.release()
            throw SupportError("no thread: \(String(cString: strerror(status)))")
        }
        self.thread = thread
    }

    deinit {
        measurement.end()
        pthread_join(thread, nil)
    }

    /// A limit for an idle machine, as it is for this one in this time.
    func scaled(_ limit: Int) -> Int { Int(Double(limit) * measurement.worst) }
}

private func measure(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    Unmanaged<MachineSlowdown.Measurement>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
