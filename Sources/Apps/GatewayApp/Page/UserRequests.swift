import Base
import Configuration
import Gateway
import GatewayEntities
import JSON
import OwnTracks
import Presence
import Regions
import Runtime
import Shell
import StatusPage
import System

/// What people ask of the service, on its page and in Home Assistant.
final class UserRequests {
    private unowned let app: App<Gateway>
    private let radio: RadioPart
    /// Restarts of the scan.
    private var scanRestarts = RateBucket(capacity: 2, period: .seconds(30))

    init(_ app: App<Gateway>, _ radio: RadioPart) { (self.app, self.radio) = (app, radio) }

    /// Carries out a request of the page.
    func perform(_ action: StatusAction) -> StatusActionResult {
        guard app.core.isStarted else { return .refused("the service has not read its state yet") }
        return switch action {
        case .setRegion(let tracker, let waypoint): setRegion(of: tracker, waypoint: waypoint)
        case .editRegion(let tracker, let waypoint): editRegion(of: tracker, waypoint: waypoint)
        case .removeRegion(let tracker, let rid): removeRegion(of: tracker, rid: rid)
        case .changeSettings(let text): changeSettings(text)
        case .reportLocation(let tracker): reportLocation(of: tracker)
        case .restartScan: restartScan()
        }
    }

    /// Carries out a request of Home Assistant.
    func perform(_ request: HomeAssistantFeed.Request) -> StatusActionResult {
        switch request {
        case .restartScan: restartScan()
        case .reportLocation(let tracker): reportLocation(of: tracker)
        case .setMonitoring(let tracker, let mode): setMonitoring(of: tracker, to: mode)
        }
    }

    private func handle(_ request: Request) -> StatusActionResult {
        let reason = app.core.reasonToRefuse(request)
        // The core logs why it refuses.
        app.handle(.request(request), at: app.host.now)
        return reason.map { .refused($0) } ?? .done
    }

    private func handle(_ input: Gateway.Input) -> StatusActionResult {
        app.handle(input, at: app.host.now)
        return .done
    }

    // MARK: - Regions

    private func setRegion(of tracker: Int, waypoint text: String) -> StatusActionResult {
        guard app.core.trackers.indices.contains(tracker) else { return .refused("there is no such tracker") }
        let base = app.settings.configuration.numberBase
        let reading: WaypointsReading
        var hasKey = false
        do {
            var json = try JSONValue(parsing: Array(text.utf8))
            if case .object(var members) = json {
                members["_type"] = "waypoint"
                hasKey = members["rid"]?.string?.isEmpty == false
                json = .object(members)
                let regions = app.core.trackers[tracker].regions
                if let rid = members["rid"]?.string, let region = regions[rid: rid] {
                    json = region.waypoint(changing: members, base: base)
                }
            }
            reading = try WaypointsReading(json, base: base)
        } catch {
            return .refused("\(error)")
        }
        if let problem = reading.problems.first { return .refused(problem.reason) }
        for remark in reading.remarks { app.log.warning("page: \(remark)") }
        var changes = reading.changes
        if !hasKey, case .set(var region, _)? = changes.first {
            let clock = app.core.wallClock
            if region.hasNoTimestamp, clock.isKnown { region.timestamp = clock.epochSeconds(at: app.host.now) }
            guard case .new(let added) = RegionAddition(region, to: app.core.trackers[tracker].regions) else {
                return .refused("this region is there already")
            }
            changes = [.set(added, isRIDDerived: false)]
        }
        return handle(.changeRegions(tracker: tracker, changes))
    }

    /// As `setRegion`, but a region that was removed since does not come back.
    private func editRegion(of tracker: Int, waypoint text: String) -> StatusActionResult {
        let rid = (try? JSONValue(parsing: Array(text.utf8)))?["rid"]?.string
        guard let rid, app.core.has(RegionKey(tracker: tracker, rid: rid)) else {
            return .refused("there is no such region")
        }
        return setRegion(of: tracker, waypoint: text)
    }

    private func removeRegion(of tracker: Int, rid: String) -> StatusActionResult {
        guard app.core.has(RegionKey(tracker: tracker, rid: rid)) else { return .refused("there is no such region") }
        return handle(.changeRegions(tracker: tracker, [.remove(rid: rid)]))
    }

    // MARK: - Settings

    private var settings: PageSettings { PageSettings(settings: app.settings, kept: app.core.remoteSettings) }

    private static let prefix = "setConfiguration: "

    /// What the page shows of the settings that it may change.
    var settingsForm: JSONValue {
        let counts = app.core.counters.commands
        let reason = app.core.refusals.refusals.first?.text
        // The person on the page sent no command.
        let text = reason.map { String($0.hasPrefix(Self.prefix) ? $0.dropFirst(Self.prefix.utf8.count) : $0[...]) }
        return settings.json(refused: (counts[.configuration] + counts[.overload], text))
    }

    /// Has new settings tried and kept, as a `setConfiguration` on `/cmd`. What is not valid is refused at once.
    private func changeSettings(_ text: String) -> StatusActionResult {
        let changes: JSONValue
        do throws(Failure) {
            guard let body = try? JSONValue(parsing: Array(text.utf8)) else { return .refused("that is not JSON") }
            guard let wanted = try settings.changes(by: body) else { return .done }
            changes = wanted
        } catch {
            return .refused(error.message)
        }
        let names = (changes.object ?? [:]).keys.filter { $0 != "_type" }.sorted()
        app.log.notice("page: new settings: \(names.joined(separator: ", "))")
        // Who has the token of the page needs no key of the tracker.
        let command = ReceivedCommand(
            tracker: 0, command: .success(.setConfiguration(changes, waypoints: nil)), isRetained: false,
            wasEncrypted: true, digest: nil)
        return handle(.command(command))
    }

    // MARK: - Trackers and radio

    private func reportLocation(of tracker: Int) -> StatusActionResult {
        handle(.reportLocation(tracker: tracker))
    }

    private func setMonitoring(of tracker: Int, to number: Int) -> StatusActionResult {
        guard app.core.trackers.indices.contains(tracker), let mode = MonitoringMode(rawValue: number) else {
            return .refused("there is no such tracker or mode")
        }
        return handle(.setMonitoring(tracker: tracker, mode))
    }

    private func restartScan() -> StatusActionResult {
        if case .capture = app.settings.configuration.scanner { return .refused("a recording is played once") }
        // While it restarts, nothing is heard.
        guard scanRestarts.admits(at: app.host.now) else { return .refused("the scan was restarted a moment ago") }
        app.log.notice("the scan is restarted on request")
        radio.restartScan()
        return .done
    }
}
