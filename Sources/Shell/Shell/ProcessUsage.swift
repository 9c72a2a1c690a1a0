import Base
import Glibc
package import Health
import System

/// The resources that this process uses, from the kernel's /proc.
package enum ProcessUsage {
    /// - Returns: nil without /proc.
    package static func read() -> ProcessState? {
        var usage = rusage()
        guard getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0, let pages = residentPages() else {
            return nil
        }
        return ProcessState(
            processorTime: duration(usage.ru_utime) + duration(usage.ru_stime),
            residentBytes: pages * UInt64(max(0, sysconf(CInt(_SC_PAGESIZE)))), openDescriptors: descriptorCount())
    }

    /// How long ago the kernel started this process, to a hundredth of a second; nil without /proc.
    package static func age() -> Duration? {
        // proc_pid_stat(5): field 22 is the start in clock ticks on CLOCK_BOOTTIME. The name, field 2, may contain blanks
        // and ends with the last parenthesis.
        guard let text = KernelFile.text("/proc/self/stat"), let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[end...].dropFirst().split(separator: " ")
        let perSecond = Int64(sysconf(CInt(_SC_CLK_TCK)))
        guard fields.count > 19, let ticks = Int64(fields[19]), perSecond > 0 else { return nil }
        return MonotonicInstant(nanoseconds: ticks * (1_000_000_000 / perSecond)).duration(to: Clocks.now())
    }

    private static func duration(_ time: timeval) -> Duration {
        .seconds(time.tv_sec) + .microseconds(Int64(time.tv_usec))
    }

    /// The second number of proc_pid_statm(5).
    private static func residentPages() -> UInt64? {
        let numbers = KernelFile.text("/proc/self/statm")?.split(separator: " ") ?? []
        return numbers.count > 1 ? UInt64(numbers[1]) : nil
    }

    private static func descriptorCount() -> Int {
        // Without the directory's own descriptor.
        max(0, KernelFile.names(in: "/proc/self/fd").count - 1)
    }
}
