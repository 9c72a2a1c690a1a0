package import JSON
package import PageServer
package import Status

/// Provides the content of the gateway's page and handles its requests. All calls are made on the loop's thread.
package protocol StatusSource: PageSource {
    /// Requested at most four times a second, regardless of the number of clients.
    func statusSnapshot() -> StatusSnapshot
    /// Explains the state of each region with this name or `rid`: one object for each region.
    func explanation(ofRegion name: String) -> [JSONValue]
    /// The editable members of a region, as in `Region.form`; nil if the region does not exist.
    func region(ofTracker index: Int, rid: String) -> JSONValue?
    /// The card of another gateway; nil if none is offered.
    func offer(for request: PageRequest) -> PageAnswer?
    /// The settings that may be changed on the page, and whether they may be changed now.
    func settingsForm() -> JSONValue
    /// Executes a request of a client with the token, or returns the reason for a refusal.
    func perform(_ action: StatusAction) -> StatusActionResult
}

// MARK: - As a page

extension StatusSource {
    package var pageFiles: [PageFile] {
        PageFile.shared + [
            PageFile(path: "/", type: "text/html; charset=utf-8", content: PackageResources.page_html),
            PageFile(path: "/page.js", type: "text/javascript; charset=utf-8", content: PackageResources.page_js),
        ]
    }

    package func pageState() -> JSONValue { statusSnapshot().json }

    package func pageMetrics(_ clients: ClientCounters) -> String { statusSnapshot().metrics(clients) }

    package func read(_ request: PageRequest) -> PageAnswer? {
        switch request.path {
        case "/explain.json":
            guard let name = request.argument("region") else {
                return .refused(status: 400, "the argument is missing: /explain.json?region=NAME")
            }
            return .json(.array(explanation(ofRegion: name)))
        case "/region.json":
            guard let rid = request.argument("rid"), let tracker = Int(request.argument("tracker") ?? "0") else {
                return .refused(status: 400, "an argument is missing: /region.json?tracker=0&rid=RID")
            }
            return region(ofTracker: tracker, rid: rid).map { .json($0) }
                ?? .refused(status: 404, "there is no such region")
        case "/gateway.json": return offer(for: request)
        case "/settings.json": return .json(settingsForm())
        default: return nil
        }
    }

    package func change(_ path: String, _ body: JSONValue) -> PageAnswer? {
        guard let tracker = trackerIndex(in: body) else {
            return .refused(
                status: 422, "the member 'tracker' must be the index of a tracker: a whole number, 0 for the first")
        }
        let action: StatusAction
        switch path {
        case "/regions":
            guard let waypoint = body["waypoint"], waypoint.object != nil else {
                return .refused(status: 400, "the member 'waypoint' is missing")
            }
            action = .setRegion(tracker: tracker, waypoint: waypoint.text)
        case "/regions/edit":
            guard let waypoint = body["waypoint"], waypoint["rid"]?.string != nil else {
                return .refused(status: 400, "the member 'waypoint' with the rid of a region is missing")
            }
            action = .editRegion(tracker: tracker, waypoint: waypoint.text)
        case "/regions/remove":
            guard let rid = body["rid"]?.string else {
                return .refused(status: 400, "the member 'rid' is missing")
            }
            action = .removeRegion(tracker: tracker, rid: rid)
        case "/settings": action = .changeSettings(body.text)
        case "/actions/report-location": action = .reportLocation(tracker: tracker)
        case "/actions/restart-scan": action = .restartScan
        default: return nil
        }
        switch perform(action) {
        case .done: return .done
        case .refused(let reason): return .refused(status: 422, reason)
        }
    }
}

/// The index of the tracker in the request, 0 if none is given; nil if the member is not an index.
private func trackerIndex(in body: JSONValue) -> Int? {
    guard let value = body["tracker"] else { return 0 }
    guard case .integer(let number) = value, number >= 0 else { return nil }
    return Int(exactly: number)
}
