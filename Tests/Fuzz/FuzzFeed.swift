// The input of any client that may publish under `ibeacon-rooms/`, and a line of a recording.
import Base
import RoomMessages
import SiteProtocol

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let payload = unsafe UnsafeBufferPointer(start: bytes, count: count)
    var site = RoomSite(RoomSettings())
    let now = MonotonicInstant(nanoseconds: 1_000_000_000)
    site.start(at: now)
    let topics = [
        "ibeacon-rooms/home/heard/k", "ibeacon-rooms/home/gateway/k", "ibeacon-rooms/home/tags",
        "ibeacon-rooms/home/learn", "ibeacon-gateway/k/availability",
        "espresense/devices/iBeacon:11112222-3333-4444-5555-666677778888-1-7/attic",
    ]
    for topic in topics {
        let outcome = unsafe site.handle(topic, payload, isRetained: false, at: now, epoch: 1)
        if let problem = outcome.problem { require(!problem.description.isEmpty) }
    }
    do throws(FeedError) {
        require(try unsafe FeedDecoder.nearby(payload).count <= NearbyReading.mostBeacons)
    } catch {
        require(!error.description.isEmpty)
    }
    do throws(FeedError) {
        require(try unsafe FeedDecoder.nearbyRequest(payload) <= NearbyRequest.longest)
    } catch {
        require(!error.description.isEmpty)
    }
    var replay = RoomReplay(RoomSettings()) { topic, payload throws(FeedError) in
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
