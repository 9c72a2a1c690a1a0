package import JSON
package import Status

/// The gateway as its page sees it: where the page's contents come from and where its wishes go. All calls come on the
/// loop's thread.
package protocol StatusSource: PageSource {
    /// Asked for at most four times a second, whoever looks.
    func statusSnapshot() -> StatusSnapshot
    /// Why the regions of this name or `rid` are as they are: one object for each of them.
    func explanation(ofRegion name: String) -> [JSONValue]
    /// What may be changed of a region, as `Region.form` has it; nil: there is no such region.
    func region(ofTracker position: Int, rid: String) -> JSONValue?
    /// Carries out what somebody with the token asked for, or says why not.
    func perform(_ action: StatusAction) -> StatusActionResult
}

/// What can be asked for on the status page.
package enum StatusAction: Hashable, Sendable {
    /// Add or change a region: `waypoint` is the JSON text of one OwnTracks waypoint.
    case setRegion(tracker: Int, waypoint: String)
    /// Change members of a region that there is: those of the JSON text of one OwnTracks waypoint. null takes a member
    /// away.
    case editRegion(tracker: Int, waypoint: String)
    case removeRegion(tracker: Int, rid: String)
    case reportLocation(tracker: Int)
    case restartScan
}

package enum StatusActionResult: Hashable, Sendable {
    case done
    /// The reason, for the person who asked.
    case refused(String)
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
                return .refused(status: 400, "say which: /explain.json?region=NAME")
            }
            return .json(.array(explanation(ofRegion: name)))
        case "/region.json":
            guard let rid = request.argument("rid"), let tracker = Int(request.argument("tracker") ?? "0") else {
                return .refused(status: 400, "say which: /region.json?tracker=0&rid=RID")
            }
            return region(ofTracker: tracker, rid: rid).map { .json($0) }
                ?? .refused(status: 404, "there is no such region")
        default: return nil
        }
    }

    package func change(_ path: String, _ body: JSONValue) -> PageAnswer? {
        guard let tracker = trackerPosition(in: body) else {
            return .refused(
                status: 422, "the member 'tracker' must be the position of a tracker: a whole number, 0 for the first")
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

/// The position of the tracker that is meant, 0 if none is named; nil: what is named is no position.
private func trackerPosition(in body: JSONValue) -> Int? {
    guard let value = body["tracker"] else { return 0 }
    guard case .integer(let number) = value, number >= 0 else { return nil }
    return Int(exactly: number)
}
