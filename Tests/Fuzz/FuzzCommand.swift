// The input of any client that may publish to `<base>/cmd`.
import OwnTracks
import Regions

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let payload = unsafe UnsafeBufferPointer(start: bytes, count: count)
    do throws(CommandError) {
        let command = try unsafe Command(parsing: payload)
        guard case .setWaypoints(let reading) = command else { return 0 }
        require(reading.problems.count <= WaypointsReading.mostProblems)
        var set = RegionSet()
        let first = set.apply(reading.changes)
        require(first.inserted.count == set.regions.count)
        // The same command again changes nothing: it may be retained and come at every connect.
        let again = set.apply(reading.changes)
        require(again.inserted.isEmpty && again.updated.isEmpty, "setWaypoints is not idempotent")
    } catch {
        require(!error.description.isEmpty)
    }
    return 0
}
