import Base
package import Identities
package import JSON
public import Regions

/// The changes of a list of waypoints. A bad waypoint does not affect the others.
public struct WaypointsReading: Hashable, Sendable {
    /// The limit of problems and remarks that are kept in words. Further ones are only counted, because a hostile
    /// message could fill a disk with them.
    public static let mostProblems = 100

    /// The steps of the merge, in the order of the list; for `RegionSet.apply`.
    public private(set) var changes: [RegionChange] = []
    /// The first waypoints that were skipped.
    public private(set) var problems: [WaypointProblem] = []
    /// The number of skipped waypoints.
    public private(set) var problemCount = 0
    /// Accepted waypoints whose effect may not be what their author expects.
    public private(set) var remarks: [WaypointProblem] = []
    /// The keys in descriptions of accepted waypoints, whose regions have the derived UUIDs.
    package private(set) var keys: [NamedKey] = []

    /// No waypoints.
    public init() {}

    /// Reads the text of a list of waypoints, such as an `.otrw` file.
    ///
    /// - Parameters:
    ///   - text: JSON of at most 8 MiB, in any of the forms that OwnTracks and its tools write: an object
    ///     `{"_type":"waypoints","waypoints":[…]}`, a bare array, a single waypoint, or a whole configuration.
    ///   - base: How the numbers of descriptions are written.
    /// - Throws: If the text is not JSON, or not a list of waypoints. A bad waypoint is a problem and no error.
    public init(parsing text: String, base: NumberBase = .auto) throws(WaypointsError) {
        let json: JSONValue
        do { json = try JSONValue(parsing: text) } catch { throw WaypointsError(description: "\(error)") }
        try self.init(json, base: base)
    }

    /// Reads an object `{"_type":"waypoints","waypoints":[…]}` (an `.otrw` file, or the argument of `setWaypoints`), a
    /// bare array, as some tools send it, a single waypoint, or the waypoints of a whole configuration.
    ///
    /// - Parameter acceptsKeys: Whether descriptions may have a key, as `Jane:irk:…`, because nobody else can read them.
    package init(
        _ json: JSONValue, base: NumberBase = .auto, acceptsKeys: Bool = false
    ) throws(WaypointsError) {
        var reader = WaypointReader(base: base, acceptsKeys: acceptsKeys)
        let elements = try Self.elements(of: json)
        var indexes: [ExactString: Int] = [:]
        changes.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            do throws(WaypointRefusal) {
                let change = try reader.change(from: element)
                changes.append(change)
                if let key = reader.key { keys.append(key) }
                var told = reader.remarks
                if let earlier = indexes.updateValue(index, forKey: ExactString(change.rid)) {
                    told.append(
                        "waypoint \(earlier) has the same rid, '\(JSON.shortened(change.rid))'; this one takes its place"
                    )
                }
                for remark in told where remarks.count < Self.mostProblems {
                    remarks.append(WaypointProblem(index: index, name: Self.name(of: element), reason: remark))
                }
            } catch {
                problemCount += 1
                guard problems.count < Self.mostProblems else { continue }
                problems.append(WaypointProblem(index: index, name: Self.name(of: element), reason: error.reason))
            }
        }
    }

    private static func elements(of json: JSONValue) throws(WaypointsError) -> [JSONValue] {
        switch json {
        case .array(let elements): return elements
        case .object(let members):
            switch members["_type"] {
            case "waypoint": return [json]
            case "waypoints", "configuration": break
            case let type:
                throw WaypointsError(
                    description: "_type is \(type?.shortened ?? "missing"); expected 'waypoints'")
            }
            // Everything but `_type` has a default; by default there are no waypoints.
            guard let waypoints = members["waypoints"], waypoints != .null else { return [] }
            guard let elements = waypoints.array else {
                throw WaypointsError(description: "waypoints is \(waypoints.kindName); expected an array")
            }
            return elements
        default:
            throw WaypointsError(
                description:
                    "\(json.kindName) is not a list of waypoints; write {\"_type\":\"waypoints\",\"waypoints\":[…]}")
        }
    }

    private static func name(of element: JSONValue) -> String {
        JSON.shortened(element["desc"]?.string.map(RegionDescription.shown) ?? element["rid"]?.string ?? "")
    }
}

extension RegionChange {
    fileprivate var rid: String {
        switch self {
        case .set(let region, _): region.rid
        case .remove(let rid): rid
        case .removeMeant(let removal): removal.rid
        }
    }
}
