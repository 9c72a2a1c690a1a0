// The input of any client that may publish under `ibeacon-rooms/`, and a line of a recording.
import Base
import RoomMessages
import SiteCore
import SiteProtocol

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let payload = unsafe UnsafeBufferPointer(start: bytes, count: count)
    let now = MonotonicInstant(nanoseconds: 1_000_000_000)
    var site = Site(SiteSettings())
    _ = site.handle(.start(StoredSite()), at: now)
    // One of several services: it compares lists of tags, and adopts what it can.
    var settings = SiteSettings()
    settings.instance = "a"
    var service = Site(settings)
    for input in [.start(StoredSite()), .brokerConnected] as [Site.Input] { _ = service.handle(input, at: now) }
    let topics: [RoomTopic?] = [
        .heard(site: "home", gateway: "k"), .card(site: "home", gateway: "k"), .tags(site: "home"),
        .learn(site: "home"), .tag(site: "home", tag: "jane"), .room(site: "home", room: "hall"),
        .health(site: "home", gateway: "k"), .service(site: "home", instance: "pi"),
        .nearby(site: "home", gateway: "k"), .availability(gateway: "k"),
        RoomTopic("espresense/devices/iBeacon:11112222-3333-4444-5555-666677778888-1-7/attic"),
        RoomTopic("espresense/settings/iBeacon:11112222-3333-4444-5555-666677778888-1-7/config"),
        .espresenseAlias("keys:jane", node: "attic"),
        .espresenseTelemetry(node: "attic"), .espresenseStatus(node: "attic"),
        // Any client chooses its topic, too.
        unsafe RoomTopic(String(decoding: payload, as: UTF8.self)),
    ]
    for case .some(let topic) in topics {
        do throws(FeedError) {
            guard let message = try unsafe SiteMessage(topic, payload) else { continue }
            if case .nearby(_, let readings) = message { require(readings.count <= NearbyReading.mostBeacons) }
            _ = site.handle(.message(message, isRetained: false), at: now)
            _ = service.handle(.message(message, isRetained: true), at: now)
        } catch {
            require(!error.description.isEmpty)
        }
    }
    if service.refusal(of: .adoptTags) == nil { _ = service.handle(.request(.adoptTags), at: now) }
    _ = service.handle(.tick, at: now.advanced(by: .seconds(60)))
    do throws(FeedError) {
        require(try unsafe FeedDecoder.nearbyRequest(payload) <= NearbyRequest.longest)
    } catch {
        require(!error.description.isEmpty)
    }
    do throws(FeedError) {
        let refusal = try unsafe LearnRefusal(payload)
        require(try LearnRefusal(refusal.payload) == refusal)
    } catch {
        require(!error.description.isEmpty)
    }
    do throws(FeedError) {
        let answer = try unsafe LearnAnswer(payload)
        require(try LearnAnswer(answer.payload) == answer)
    } catch {
        require(!error.description.isEmpty)
    }
    var replay = RoomReplay(SiteSettings()) { topic, payload throws(FeedError) in
        if payload.count == 7 { throw FeedError("it is not encrypted") }
        return payload
    }
    do throws(FeedError) {
        try unsafe replay.play(line: payload, { _ in }, { _ in })
    } catch {
        require(!error.description.isEmpty)
    }
    return 0
}
