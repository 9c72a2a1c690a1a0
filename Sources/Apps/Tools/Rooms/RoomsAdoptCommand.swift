import Base
import Glibc
import RoomsApp
import Shell
import System

/// `rooms tags adopt`: lets the service of this machine take the site's list of tags, which it does not take or replace by
/// itself if it has no stored list.
enum RoomsAdoptCommand {
    /// Longest time for a service that is starting.
    private static let patience: Duration = .seconds(15)

    static func run(_ arguments: Arguments) throws -> ExitCode {
        guard arguments.operands.count == 2 else { throw Failure(.usage, "rooms tags adopt takes no further word") }
        let settings = try Settings.load(arguments, stateDirectory: RoomServiceProcess.defaultStateDirectory)
        let client = StatusClient(stateDirectory: settings.stateDirectory)
        let end = Clocks.now().advanced(by: patience)
        while true {
            do throws(Failure) {
                try client.post("/tags/adopt")
                return .ok
            } catch {
                // The service may not have connected yet. A refusal is final.
                guard error.code == .unavailable, Clocks.now() < end else { throw error }
                usleep(500_000)
            }
        }
    }
}
