import CDBus
import Glibc
import Synchronization
import System

/// Opens a connection to a bus on a thread of its own: connecting to a socket waits while the bus accepts nobody.
///
/// The connection is neither authenticated nor registered. Both are done on the loop, without waiting.
final class BusOpening {
    enum Result {
        case underWay
        /// The caller owns the connection.
        case opened(OpaquePointer)
        case failed(String)
    }

    private enum State {
        case underWay, taken, abandoned
        case opened(UInt)
        case failed(String)
    }

    /// What the thread and the loop share. The thread may outlive this object.
    private final class Shared: Sendable {
        let state = Mutex(State.underWay)
        let waker: Waker

        init() throws(SystemError) { waker = try Waker() }

        func finish(_ connection: OpaquePointer?, _ reason: String) {
            let isWanted = state.withLock { state in
                if case .abandoned = state { return false }
                state = connection.map { .opened(UInt(bitPattern: $0)) } ?? .failed(reason)
                return true
            }
            if isWanted { waker.wake() } else { connection.map(Self.drop) }
        }

        static func drop(_ connection: OpaquePointer) {
            dbus_connection_close(connection)
            dbus_connection_unref(connection)
        }
    }

    /// Threads that wait for a bus. A bus that accepts nobody must not collect them.
    private static let underWay = Atomic(0)
    private static let mostUnderWay = 2

    private let shared: Shared
    private let thread: WorkerThread

    /// - Parameter address: As D-Bus writes it, such as `unix:path=/var/run/dbus/system_bus_socket`.
    /// - Throws: If there is no bus, or if it accepts nobody now.
    init(_ address: String) throws(BusError) {
        try Self.probe(address)
        guard Self.underWay.load(ordering: .relaxed) < Self.mostUnderWay else { throw Self.isFull }
        do throws(SystemError) {
            let shared = try Shared()
            Self.underWay.add(1, ordering: .relaxed)
            do throws(SystemError) {
                thread = try WorkerThread(name: "bus") {
                    defer { Self.underWay.subtract(1, ordering: .relaxed) }
                    var error = DBusError()
                    dbus_error_init(&error)
                    defer { dbus_error_free(&error) }
                    let connection = dbus_connection_open_private(address, &error)
                    shared.finish(connection, error.message.map { String(cString: $0) } ?? "no reason given")
                }
            } catch {
                Self.underWay.subtract(1, ordering: .relaxed)
                throw error
            }
            self.shared = shared
        } catch {
            throw BusError(description: "no D-Bus system bus (\(error))")
        }
    }

    deinit {
        let left = shared.state.withLock { state -> UInt? in
            defer { state = .abandoned }
            if case .opened(let connection) = state { return connection }
            return nil
        }
        if let left, let connection = OpaquePointer(bitPattern: left) { Shared.drop(connection) }
    }

    /// Readable when there is a result.
    var descriptor: CInt { shared.waker.descriptor }

    /// The result, once.
    func take() -> Result {
        shared.waker.clear()
        return shared.state.withLock { state in
            switch state {
            case .opened(let bits):
                state = .taken
                return OpaquePointer(bitPattern: bits).map(Result.opened) ?? .failed("no connection")
            case .failed(let reason):
                state = .taken
                return .failed(reason)
            case .underWay, .taken, .abandoned: return .underWay
            }
        }
    }

    private static var isFull: BusError {
        BusError(description: "the D-Bus system bus accepts no connection; see: systemctl status dbus")
    }

    /// Tells at once, and without waiting, that there is no bus, or that it does not accept connections.
    private static func probe(_ address: String) throws(BusError) {
        let prefix = "unix:path="
        guard address.hasPrefix(prefix), !address.contains(";") else { return }
        let path = address.dropFirst(prefix.count).prefix { $0 != "," }
        let descriptor = LocalSocket.make(isBlocking: false)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard LocalSocket(String(path)).connect(descriptor) != 0 else { return }
        guard errno != EAGAIN else { throw isFull }
        throw BusError.missing("\(path): \(systemMessage(errno))")
    }
}
