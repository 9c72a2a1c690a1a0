// The grammar of region descriptions, and the index over what it reads.
import Beacon
import Regions

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = unsafe String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    for base in NumberBase.allCases {
        do throws(RegionDescriptionError) {
            let description = try RegionDescription(parsing: text, base: base)
            // What is written must read as the same thing.
            let written = description.text(base: base)
            guard let again = try? RegionDescription(parsing: written, base: base) else {
                fatalError("cannot be read again: \(written)")
            }
            require(
                again.name == description.name && again.pattern == description.pattern,
                "reads differently again: \(written)")
            let region = Region(
                rid: derivedRID(name: description.name, timestamp: 1), description: description, timestamp: 1)
            _ = (region.kind, region.displayName, region.monitoringModes)
            guard let pattern = description.pattern else { continue }
            var found = false
            RegionIndex([pattern]).forEachMatch(
                of: BeaconID(uuid: pattern.uuid, major: pattern.major ?? 3, minor: pattern.minor ?? 5)
            ) { _ in found = true }
            require(found, "the index does not find its own pattern")
        } catch {
            require(!error.description.isEmpty)
        }
    }
    return 0
}
