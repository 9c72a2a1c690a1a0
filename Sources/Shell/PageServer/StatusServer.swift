package import Base
import CMicroHTTPD
import Configuration
import Glibc
import JSON
import OwnTracks
import System

/// Serves a page, its live events, `/status.json` and `/metrics` on the event loop's thread.
///
/// It costs almost nothing without clients, and the cost with many clients is limited: the state is read at most four
/// times a second, and all clients share its rendering.
package final class StatusServer {
    /// The period of the live events.
    static let eventPeriod: Duration = .seconds(1)
    /// Delay of the event after a change. Changes within this time share one event.
    static let changeDelay: Duration = .milliseconds(50)
    /// Time for which a rendering is served again.
    static let renderingLife: Duration = .milliseconds(250)
    /// Time between two checks for slow clients.
    static let sweepPeriod: Duration = .seconds(1)

    /// The port of the server, chosen by the kernel or by the settings; 0 for a Unix socket.
    package let port: UInt16
    /// Counters for the metrics of the page.
    package private(set) var counters = ClientCounters()

    let guardian: RequestGuard
    let settings: StatusServerSettings
    private let host: any EventHost
    let source: any PageSource
    private let pages: PageFiles
    private var daemon: OpaquePointer?
    private var clients: [ObjectIdentifier: Client] = [:]
    private var registration: (any EventRegistration)?
    private var timers: [Timer: (any EventRegistration)] = [:]
    private var rendered: [Rendering: (response: HTTPResponse, at: MonotonicInstant)] = [:]
    let feed = EventFeed()
    let link: OneTimeLink
    private var eventTakenAt: MonotonicInstant?

    private enum Timer { case library, event, change, sweep, accept }
    enum Rendering { case status, metrics }

    /// Opens the port and starts serving.
    ///
    /// - Parameters:
    ///   - host: The event loop.
    ///   - source: Provides the state. Only this object keeps it alive.
    ///   - link: The link to the page, which all entrances of a service share.
    /// - Throws: `StatusServerError`; then nothing stays open.
    package init(
        settings: StatusServerSettings, host: any EventHost, source: any PageSource, link: OneTimeLink = OneTimeLink()
    ) throws(StatusServerError) {
        if let token = settings.token, !RequestGuard.isUsable(token: token) { throw .unusableToken }
        guard let pages = PageFiles(source.pageFiles) else { throw .library }
        self.settings = settings
        self.host = host
        self.source = source
        self.link = link
        self.pages = pages
        guardian = RequestGuard(settings: settings)
        let (descriptor, port) = try Self.open(settings)
        self.port = port
        var options = mhd_shim_options()
        options.listen_socket = descriptor
        options.connection_limit = UInt32(settings.connectionLimit)
        // `patience` must expire before the library's time-out, which would add a timer for each connection.
        options.connection_timeout = UInt32((settings.patience * 2).inSeconds.rounded(.up))
        options.connection_memory = 16 * 1024
        options.handler = handleRequest
        options.completed = requestCompleted
        options.connection = connectionChanged
        options.context = Unmanaged.passUnretained(self).toOpaque()
        guard let daemon = mhd_shim_start(&options) else {
            close(descriptor)
            throw .library
        }
        self.daemon = daemon
        registration = host.whenReadable(mhd_shim_epoll_descriptor(daemon)) { [weak self] in self?.run() }
        if case .port(var address) = settings.entrance, settings.token != nil {
            address.port = port
            link.page = address
        }
    }

    private static func open(
        _ settings: StatusServerSettings
    ) throws(StatusServerError) -> (descriptor: CInt, port: UInt16) {
        switch settings.entrance {
        case .port(let address):
            if settings.token == nil, !address.isLoopback { throw .needsToken(address: address.description) }
            return try address.open()
        case .socket(let socket, _):
            return try mapError({ StatusServerError.socket(path: socket.path, errno: $0.code) }) {
                () throws(SystemError) in
                (try socket.listen(), 0)
            }
        }
    }

    deinit { stop() }

    /// Ends all streams and closes the port or socket. It may be called more than once.
    package func stop() {
        guard let daemon else { return }
        registration?.cancel()
        timers.values.forEach { $0.cancel() }
        timers = [:]
        // The library aborts the process if a connection is suspended when it stops.
        for client in clients.values {
            client.stream?.end(deadline: patienceFromNow)
            client.drop()
        }
        MHD_run(daemon)
        self.daemon = nil
        MHD_stop_daemon(daemon)
        clients = [:]
        if case .socket(let socket, _) = settings.entrance { unlink(socket.path) }
    }

    /// Reports a change that the page shows at once.
    package func changed() {
        guard hasStreams, timers[.change] == nil else { return }
        // The first change after a pause is sent at once. Frequent changes are sent four times a second.
        let since = eventTakenAt.map { $0.duration(to: host.now) } ?? Self.renderingLife
        schedule(.change, after: max(Self.changeDelay, Self.renderingLife - since)) { $0.pushEvent() }
    }

    /// Number of open event streams.
    package var streamCount: Int { clients.values.count { $0.stream != nil } }

    private var hasStreams: Bool { clients.values.contains { $0.stream != nil } }

    var now: MonotonicInstant { host.now }

    var patienceFromNow: MonotonicInstant { host.now.advanced(by: settings.patience) }

    /// Lets the library handle all ready connections.
    private func run() {
        guard let daemon else { return }
        MHD_run(daemon)
        var milliseconds: UInt64 = 0
        guard MHD_get_timeout(daemon, &milliseconds) == .YES else {
            timers.removeValue(forKey: .library)?.cancel()
            return
        }
        timers.removeValue(forKey: .library)?.cancel()
        schedule(.library, after: .milliseconds(Int64(min(milliseconds, 60_000)))) { $0.run() }
    }

    private func schedule(_ timer: Timer, after delay: Duration, _ action: @escaping (StatusServer) -> Void) {
        timers[timer] = host.at(host.now.advanced(by: delay)) { [weak self] in
            guard let self, daemon != nil else { return }
            timers[timer] = nil
            action(self)
        }
    }
}

// MARK: Events

extension StatusServer {
    /// Adds an event stream. It gets the state at once; the first stream starts the periodic events.
    func admit(_ stream: EventStream) {
        stream.client.stream = stream
        if isEventStale { renderEvent() }
        if timers[.event] == nil { schedule(.event, after: Self.eventPeriod) { $0.beat() } }
    }

    private var isEventStale: Bool {
        guard let eventTakenAt else { return true }
        return eventTakenAt.duration(to: host.now) >= Self.renderingLife
    }

    private func beat() {
        guard hasStreams else { return }
        pushEvent()
        schedule(.event, after: Self.eventPeriod) { $0.beat() }
    }

    private func pushEvent() {
        guard hasStreams else { return }
        renderEvent()
        let deadline = patienceFromNow
        for client in clients.values { client.stream?.wake(deadline: deadline) }
        run()
    }

    private func renderEvent() {
        let json = source.pageState().bytes
        feed.replace(by: Array("data: ".utf8) + json + Array("\n\n".utf8), deadline: patienceFromNow)
        eventTakenAt = host.now
    }

    /// The present rendering, at most `renderingLife` old.
    func response(for rendering: Rendering) -> HTTPResponse? {
        if let recent = rendered[rendering], recent.at.duration(to: host.now) < Self.renderingLife {
            return recent.response
        }
        let response =
            switch rendering {
            case .status:
                HTTPResponse(status: 200, type: "application/json", body: source.pageState().bytes)
            case .metrics:
                HTTPResponse(
                    status: 200, type: "text/plain; version=0.0.4; charset=utf-8",
                    body: Array(source.pageMetrics(currentCounters).utf8))
            }
        if let response { rendered[rendering] = (response, host.now) }
        return response
    }

    func page(_ path: String) -> HTTPResponse? { pages[path] }

    /// Discards renderings after a request changed state, so that the next answer shows the change.
    func forgetRenderings() {
        rendered = [:]
        changed()
    }
}

// MARK: Clients

extension StatusServer {
    func connected(_ client: Client) {
        clients[ObjectIdentifier(client)] = client
        // Further connections wait in the kernel until one is closed.
        if clients.count == settings.connectionLimit { counters.timesFull += 1 }
        if timers[.sweep] == nil { schedule(.sweep, after: Self.sweepPeriod) { $0.sweep() } }
    }

    private var currentCounters: ClientCounters {
        var counters = counters
        counters.streams = streamCount
        return counters
    }

    /// Counts a connection that the library dropped at its own time-out.
    func countDrop() { counters.dropped += 1 }

    /// Counts an event stream that was refused because of the limit.
    func countRefusal() { counters.streamsRefused += 1 }

    func disconnected(_ client: Client) {
        client.stream = nil
        clients[ObjectIdentifier(client)] = nil
        // At its limit libmicrohttpd removes the port from its epoll set and restores it only at the beginning of the
        // next call. Without that call no connection would be accepted again.
        if clients.count == settings.connectionLimit - 1 { schedule(.accept, after: .zero) { $0.run() } }
    }

    /// Drops clients without progress: incomplete requests, answers and events that are not read.
    private func sweep() {
        // If this process was stopped, the clients are not at fault. So all ready data is read and sent first, and each
        // stream gets a turn in which it finds that it has no more data to send.
        run()
        run()
        let now = host.now
        for client in clients.values {
            guard let deadline = client.deadline, deadline < now else { continue }
            client.deadline = nil
            if !client.isIdle { counters.dropped += 1 }
            client.drop()
        }
        run()
        // Most of the time there are no clients; the timer would wake the processor each second for nothing.
        if !clients.isEmpty { schedule(.sweep, after: Self.sweepPeriod) { $0.sweep() } }
    }
}
