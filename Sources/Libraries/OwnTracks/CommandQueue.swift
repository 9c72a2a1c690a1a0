import Base

/// Commands that wait for their turn. Every client that may publish on `/cmd` can send as many as the broker passes on.
///
/// The cost of a command grows with the number of regions. So only ticks carry out commands, and each tick carries out
/// only as many as take a few milliseconds, or a single large one. Equal queries that wait at the same time get one
/// answer. The queue is bounded, and so is the rate of each tracker's commands; further commands are refused.
struct CommandQueue: Sendable {
    /// The limit of waiting commands.
    static let mostWaiting = 256
    /// Regions that waiting commands may contain, without the first command: about 20 MB.
    static let mostWaitingRegions = 50_000
    /// Commands of one tracker that are taken at once. After that one is taken each second: each may make lines of the log, rows of the
    /// history, messages and writes.
    static let mostAtOnce = 300
    static let period: Duration = .seconds(1)
    /// Time that is reserved for each region that a command reads or writes.
    private static let nanosecondsPerRegion: Int64 = 4_000
    /// Commands run ahead of the reserved time by no more than this.
    private static let mostAhead: Int64 = 20_000_000

    private var waiting: [ReceivedCommand] = []
    /// By the index of the tracker.
    private var rates: [Int: RateBucket] = [:]
    private var waitingRegions = 0
    /// When the last command came.
    private var lastArrival = MonotonicInstant.zero
    /// The end of the time that is reserved for commands that ran.
    private var busyUntil = MonotonicInstant.zero

    /// When the next command may run; nil if none waits.
    var due: MonotonicInstant? {
        if waiting.isEmpty { return nil }
        return max(MonotonicInstant(nanoseconds: busyUntil.nanoseconds &- Self.mostAhead), lastArrival)
    }

    enum Admission { case queued, answeredByAnother, tooMany, tooFast }

    mutating func add(_ command: ReceivedCommand, at now: MonotonicInstant) -> Admission {
        if command.isQuery {
            // After the last command that changes something, equal queries have the same answer.
            for other in waiting.reversed() {
                guard other.isQuery else { break }
                if other.isSameQuery(as: command) { return .answeredByAnother }
            }
        }
        let regions = command.regionCount
        let hasTooManyRegions = !waiting.isEmpty && waitingRegions + regions > Self.mostWaitingRegions
        guard waiting.count < Self.mostWaiting, !hasTooManyRegions else { return .tooMany }
        guard rates[command.tracker, default: Self.rate].admits(at: now) else { return .tooFast }
        waiting.append(command)
        lastArrival = now
        waitingRegions += regions
        return .queued
    }

    private static let rate = RateBucket(capacity: mostAtOnce, period: period)

    /// The next command, if it may run now.
    ///
    /// - Parameter regions: The number of regions.
    mutating func next(at now: MonotonicInstant, regions: Int) -> ReceivedCommand? {
        guard let due, due <= now else { return nil }
        let command = waiting.removeFirst()
        waitingRegions -= command.regionCount
        let cost = Int64(command.isCheap ? 1 : regions + command.regionCount + 1) &* Self.nanosecondsPerRegion
        busyUntil = MonotonicInstant(nanoseconds: max(busyUntil, now).nanoseconds &+ cost)
        return command
    }

    /// As of `CommandGate`.
    mutating func moveTrackers(to newIndices: [Int: Int]) {
        waiting = waiting.compactMap { command in
            var moved = command
            guard let index = newIndices[command.tracker] else { return nil }
            moved.tracker = index
            return moved
        }
        waitingRegions = waiting.reduce(0) { $0 + $1.regionCount }
        rates = Dictionary(rates.compactMap { old, rate in newIndices[old].map { ($0, rate) } }) { first, _ in first }
    }

    /// Removes and returns all commands.
    mutating func drain() -> [ReceivedCommand] {
        defer { (waiting, waitingRegions) = ([], 0) }
        return waiting
    }
}

extension ReceivedCommand {
    fileprivate var isQuery: Bool { rule?.isQuery == true }

    /// nil if the message is not a command.
    private var rule: CommandRule? { (try? command.get())?.action.rule }

    fileprivate func isSameQuery(as other: ReceivedCommand) -> Bool {
        guard tracker == other.tracker, isRetained == other.isRetained, wasEncrypted == other.wasEncrypted,
            case .success(let mine) = command, case .success(let theirs) = other.command
        else { return false }
        return mine == theirs
    }

    /// The number of regions in the command.
    fileprivate var regionCount: Int {
        switch command {
        case .success(.setWaypoints(let reading)): reading.changes.count
        case .success(.setConfiguration(_, let reading)): reading?.changes.count ?? 0
        default: 0
        }
    }

    fileprivate var isCheap: Bool { rule?.isCheap != false }
}
