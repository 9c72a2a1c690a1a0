import Base
import Beacon
import OwnTracks

/// Commands that wait for their turn. Anyone who may publish on `/cmd` can send as many as the broker passes on.
///
/// A command may cost as much as there are regions, so commands are carried out by ticks alone, each of which is a turn of
/// the loop, and paced by their cost: what one turn does takes a few milliseconds, a single large command excepted. A query that waits already is answered once. What
/// waits is bounded; a command beyond that is refused.
struct CommandQueue: Sendable {
    /// Commands that may wait.
    static let mostWaiting = 256
    /// Regions that waiting commands may bring, except the first that waits: about 20 MB.
    static let mostWaitingRegions = Gateway.mostRegions
    /// Time that is set aside for each region that a command reads or writes.
    private static let nanosecondsPerRegion: Int64 = 4_000
    /// Commands run ahead of the time that is set aside for them by at most this.
    private static let mostAhead: Int64 = 20_000_000

    private var waiting: [ReceivedCommand] = []
    private var waitingRegions = 0
    /// When the last command came.
    private var lastArrival = MonotonicInstant.zero
    /// Until then the time is set aside for commands that ran.
    private var busyUntil = MonotonicInstant.zero

    /// When the next command may run; nil: none waits.
    var due: MonotonicInstant? {
        if waiting.isEmpty { return nil }
        return max(MonotonicInstant(nanoseconds: busyUntil.nanoseconds &- Self.mostAhead), lastArrival)
    }

    enum Admission { case queued, answeredByAnother, refused }

    mutating func add(_ command: ReceivedCommand, at now: MonotonicInstant) -> Admission {
        if command.isQuery {
            // Behind the last command that changes something, an equal query gets the same answer.
            for other in waiting.reversed() {
                guard other.isQuery else { break }
                if other.isSameQuery(as: command) { return .answeredByAnother }
            }
        }
        let regions = command.regionCount
        let isTooLarge = !waiting.isEmpty && waitingRegions + regions > Self.mostWaitingRegions
        guard waiting.count < Self.mostWaiting, !isTooLarge else { return .refused }
        waiting.append(command)
        lastArrival = now
        waitingRegions += regions
        return .queued
    }

    /// The next command, if it may run now.
    ///
    /// - Parameter regions: How many regions there are.
    mutating func next(at now: MonotonicInstant, regions: Int) -> ReceivedCommand? {
        guard let due, due <= now else { return nil }
        let command = waiting.removeFirst()
        waitingRegions -= command.regionCount
        let cost = Int64(command.isCheap ? 1 : regions + command.regionCount + 1) &* Self.nanosecondsPerRegion
        busyUntil = MonotonicInstant(nanoseconds: max(busyUntil, now).nanoseconds &+ cost)
        return command
    }
}

extension ReceivedCommand {
    /// Whether it is answered from what is known, and changes nothing.
    fileprivate var isQuery: Bool {
        switch command {
        case .success(.waypoints), .success(.status), .success(.dump), .success(.reportLocation): true
        case .success(.setWaypoints), .success(.clearWaypoints), .success(.setConfiguration), .failure: false
        }
    }

    fileprivate func isSameQuery(as other: ReceivedCommand) -> Bool {
        guard tracker == other.tracker, isRetained == other.isRetained, wasEncrypted == other.wasEncrypted,
            case .success(let mine) = command, case .success(let theirs) = other.command
        else { return false }
        return mine == theirs
    }

    /// Regions that it brings.
    fileprivate var regionCount: Int {
        switch command {
        case .success(.setWaypoints(let reading)): reading.changes.count
        case .success(.setConfiguration(_, let reading)): reading?.changes.count ?? 0
        default: 0
        }
    }

    /// Whether its cost does not depend on how many regions there are.
    fileprivate var isCheap: Bool {
        switch command {
        case .success(.reportLocation), .success(.dump), .failure: true
        default: false
        }
    }
}
