import CLoop
import Glibc

/// What each loop is asked to do, the same for all three.
///
/// - `io`: an eventfd that is always readable is read and rung again, `rounds` times: the price of one event.
/// - `timer`: a CLOCK_BOOTTIME one-shot timer that is already due is armed again from its handler, `rounds` times.
/// - `wake`: another thread rings 2,000 times a second for two seconds, and a 10 Hz timer runs beside it.
/// - `idle`: nothing for one second, then exit: what it costs to be there.
public enum Task: String, CaseIterable {
    case io, timer, wake, idle

    public static let rounds = 100_000
    public static let wakes = 4_000
}

public func bootTimeNanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// The task named on the command line.
public func chosenTask() -> Task {
    guard CommandLine.arguments.count == 2, let task = Task(rawValue: CommandLine.arguments[1]) else {
        print("usage: \(CommandLine.arguments[0]) io|timer|wake|idle")
        exit(64)
    }
    return task
}

/// Rings `descriptor` from a thread of its own, `Task.wakes` times at 2,000 per second.
public func startRinging(_ descriptor: Int32) {
    var thread = pthread_t()
    pthread_create(&thread, nil, ring, UnsafeMutableRawPointer(bitPattern: Int(descriptor)))
    pthread_detach(thread)
}

private func ring(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    let descriptor = Int32(Int(bitPattern: context))
    for _ in 0..<Task.wakes {
        put(descriptor)
        usleep(500)
    }
    return nil
}

public func put(_ descriptor: Int32) {
    var one: UInt64 = 1
    _ = write(descriptor, &one, 8)
}

@discardableResult
public func take(_ descriptor: Int32) -> UInt64 {
    var count: UInt64 = 0
    _ = read(descriptor, &count, 8)
    return count
}

/// One line: processor time and wall time per event, context switches, threads and memory.
public func report(_ name: String, _ task: Task, events: Int, since start: UInt64) {
    let wall = bootTimeNanoseconds() - start
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    let microseconds =
        usage.ru_utime.tv_sec * 1_000_000 + usage.ru_utime.tv_usec
        + usage.ru_stime.tv_sec * 1_000_000 + usage.ru_stime.tv_usec
    let count = max(1, events)
    print(
        "\(name) \(task.rawValue): \(events) events, \(Int(wall) / count) ns wall and \(microseconds * 1_000 / count) ns CPU"
            + " each, \(usage.ru_nvcsw) switches, \(threads()) threads, \(usage.ru_maxrss) kB max RSS")
    exit(0)
}

private func threads() -> Int {
    guard let directory = opendir("/proc/self/task") else { return 0 }
    defer { closedir(directory) }
    var count = 0
    while let entry = readdir(directory) {
        if entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { count += 1 }
    }
    return count
}
